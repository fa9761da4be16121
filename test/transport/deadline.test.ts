import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  answersBytes,
  answersOnlyOnce,
  answersOk,
  dripsHeaders,
  endlessInterim,
  neverAnswers,
  neverSpeaks,
} from '../hostile-receivers.ts';
import { newTransport, requestTo, sendTo, SHORT_MS, started } from './sending.ts';
import { until } from '../until.ts';

const LOOKUP_THAT_HANGS: LookupFunction = () => {};

describe('the timeout of an attempt', () => {
  it.each([
    ['a receiver that never responds', () => neverAnswers(), 'connected, but no response within 1000 ms'],
    [
      'half a status line',
      () => answersBytes('HTTP/1.1 2'),
      "connected, but the response's headers did not end within 1000 ms",
    ],
    [
      'headers that drip',
      () => dripsHeaders(),
      "connected, but the response's headers did not end within 1000 ms",
    ],
    [
      'endless interim responses',
      () => endlessInterim(),
      'connected, but only interim responses (103) within 1000 ms',
    ],
    ['a TLS handshake without a response', () => neverSpeaks(), 'no TLS handshake within 1000 ms'],
  ])('ends %s, and names what is missing', async (_, hostile, detail) => {
    const receiver = await started(hostile());
    const result = await sendTo(receiver.url, { timeoutMs: SHORT_MS });
    expect(result).toMatchObject({ kind: 'failure', error: 'timeout', detail, reconnected: false });
    expect(result.ms).toBeGreaterThanOrEqual(SHORT_MS - 2);
    await until(() => receiver.openConnections === 0, 'the connections to be closed');
  });

  it('includes the name lookup', async () => {
    const transport = newTransport({ lookup: LOOKUP_THAT_HANGS });
    const result = await transport.send(requestTo('http://somewhere.test/', { timeoutMs: 20 }));
    expect(result).toMatchObject({ error: 'timeout', detail: 'no connection within 20 ms' });
  });

  it('starts again for a later attempt on the same connection', async () => {
    const receiver = await started(answersOnlyOnce());
    const transport = newTransport();
    await transport.send(requestTo(receiver.url, { timeoutMs: SHORT_MS }));
    const result = await transport.send(requestTo(receiver.url, { timeoutMs: 2 * SHORT_MS }));
    expect(result).toMatchObject({ error: 'timeout' });
    expect(result.ms).toBeGreaterThanOrEqual(2 * SHORT_MS - 2);
    expect(receiver.connections).toBe(1);
  });
});

describe('an abort', () => {
  it('ends an attempt and its connection at once', async () => {
    const receiver = await started(neverAnswers());
    const aborting = new AbortController();
    const sending = sendTo(receiver.url, { timeoutMs: 60_000, signal: aborting.signal });
    await until(() => receiver.requests.length === 1, 'the requests');
    aborting.abort();
    expect(await sending).toMatchObject({ error: 'aborted', detail: 'the caller gave up' });
    await until(() => receiver.openConnections === 0, 'the connections to be closed');
  });

  it('ends an attempt during the name lookup', async () => {
    const aborting = new AbortController();
    const transport = newTransport({ lookup: LOOKUP_THAT_HANGS });
    await transport.send(requestTo('http://somewhere.test/', { timeoutMs: 1 })); // Loads undici.
    const sending = transport.send(
      requestTo('http://somewhere.test/', { timeoutMs: 60_000, signal: aborting.signal }),
    );
    aborting.abort();
    expect(await sending).toMatchObject({ error: 'aborted' });
  });

  it('before the attempt prevents sending', async () => {
    const receiver = await started(answersOk());
    const result = await sendTo(receiver.url, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ error: 'aborted' });
    expect(receiver.connections).toBe(0);
  });

  it('ends every attempt that shares the signal, and removes the listener', async () => {
    const receiver = await started(neverAnswers());
    const signal = countingSignal();
    const transport = newTransport();
    const sending = Array.from({ length: 20 }, () =>
      transport.send(requestTo(receiver.url, { timeoutMs: 60_000, signal: signal.signal })),
    );
    await until(() => receiver.requests.length === 20, 'the requests');
    expect(signal.listeners()).toBe(1);
    signal.abort();
    expect((await Promise.all(sending)).map((result) => 'error' in result && result.error)).toEqual(
      Array.from({ length: 20 }, () => 'aborted'),
    );
    expect(signal.listeners()).toBe(0);
  });

  it('that never happens leaves no listener on the signal', async () => {
    const receiver = await started(answersOk());
    const signal = countingSignal();
    await sendTo(receiver.url, { signal: signal.signal });
    expect(signal.listeners()).toBe(0);
  });
});

/** A real signal that counts its listeners. */
function countingSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>): void => {
    count++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
    count--;
    remove(...args);
  };
  return { signal, listeners: () => count, abort: () => controller.abort() };
}
