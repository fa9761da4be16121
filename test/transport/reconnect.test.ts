import { describe, expect, it } from 'vitest';
import { answersOk, closesBeforeAnswer, closesIdle, diesWhenReused } from '../hostile-receivers.ts';
import { newTransport, requestTo, sendTo, SHORT_MS, started } from './sending.ts';
import { until } from '../until.ts';

describe('a receiver that closes each idle connection', () => {
  it('gets two hundred messages, one after the other, exactly once', async () => {
    const receiver = await started(closesIdle());
    const transport = newTransport();
    for (let at = 0; at < 200; at++) {
      expect(await transport.send(numbered(receiver.url, at))).toMatchObject({ status: 200 });
    }
    expect(arrivals(receiver)).toEqual(Array.from({ length: 200 }, (_, at) => at));
  });

  it('gets two hundred messages, 32 at a time, exactly once', async () => {
    const receiver = await started(closesIdle());
    const transport = newTransport();
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < 200) {
        expect(await transport.send(numbered(receiver.url, next++))).toMatchObject({ status: 200 });
      }
    };
    await Promise.all(Array.from({ length: 32 }, lane));
    expect(arrivals(receiver)).toEqual(Array.from({ length: 200 }, (_, at) => at));
  });
});

describe('a reused connection that dies under a request', () => {
  it.each([{ reset: false }, { reset: true }])('is replaced by a fresh one, once (%o)', async (how) => {
    const receiver = await started(diesWhenReused(how));
    const transport = newTransport();
    await transport.send(requestTo(receiver.url));
    expect(await transport.send(requestTo(receiver.url))).toMatchObject({ status: 200, reconnected: true });
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  });

  it('does not affect the next attempt', async () => {
    const receiver = await started(diesWhenReused());
    const transport = newTransport();
    const reconnected = [];
    for (let sent = 0; sent < 4; sent++) {
      reconnected.push((await transport.send(requestTo(receiver.url))).reconnected);
    }
    expect(reconnected).toEqual([false, true, true, true]);
  });

  it.each(['H', 'HTTP/1.1 2', 'HTTP/1.1 100', 'HTTP/1.1 103 Hints\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-'])(
    'is not replaced after %j of a response',
    async (after) => {
      const receiver = await started(diesWhenReused({ after }));
      const transport = newTransport();
      await transport.send(requestTo(receiver.url));
      const result = await transport.send(requestTo(receiver.url));
      expect(result).toMatchObject({ kind: 'failure', error: 'reset', reconnected: false });
      expect(receiver.requests).toHaveLength(2);
    },
  );

  it('is reported also if the fresh connection fails', async () => {
    const receiver = await started(diesWhenReused());
    const transport = newTransport();
    await transport.send(requestTo(receiver.url));
    const { port } = receiver;
    const sending = transport.send(requestTo(receiver.url));
    await receiver.close();
    const result = await sending;
    expect(result).toMatchObject({ kind: 'failure', error: 'refused', reconnected: true });
    expect(result).toHaveProperty('detail', `the connection was refused (ECONNREFUSED 127.0.0.1:${port})`);
  });

  it('differs from a fresh connection that dies', async () => {
    const receiver = await started(closesBeforeAnswer());
    const result = await sendTo(receiver.url);
    expect(result).toMatchObject({ kind: 'failure', error: 'reset', reconnected: false });
    expect(receiver.requests).toHaveLength(1);
  });

  it.each([
    ['closed', { reset: false }],
    ['reset', { reset: true }],
    ['closed in the headers', { after: 'HTTP/1.1 200 OK\r\nContent-' }],
  ])('fails as reset if a fresh connection is %s before the response', async (_, how) => {
    const receiver = await started(closesBeforeAnswer(how));
    expect(await sendTo(receiver.url)).toMatchObject({ error: 'reset' });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('a receiver that closes its connections', () => {
  it.each([
    'HTTP/1.1 200 OK\r\nConnection: close',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1',
  ])('gets every message over a new connection (%j)', async (head) => {
    const answer = `${head}\r\nContent-Length: 2\r\n\r\nok`;
    const receiver = await started(closesBeforeAnswer({ after: answer }));
    const transport = newTransport();
    for (let at = 0; at < 20; at++) {
      const result = await transport.send(numbered(receiver.url, at));
      expect(result).toMatchObject({ status: 200, reconnected: false });
    }
    expect(arrivals(receiver)).toEqual(Array.from({ length: 20 }, (_, at) => at));
    expect(receiver.connections).toBe(20);
  });
});

describe('an idle connection', () => {
  it('is closed after a while', async () => {
    const receiver = await started(answersOk());
    const transport = newTransport({ maxIdleMs: 20 });
    await transport.send(requestTo(receiver.url));
    await until(() => receiver.openConnections === 0, 'the connections to be closed');
    expect(await transport.send(requestTo(receiver.url))).toMatchObject({ status: 200, reconnected: false });
  });
});

describe('close()', () => {
  it('aborts attempts in flight, and resolves when no connection is left', async () => {
    const receiver = await started(closesBeforeAnswer());
    const silent = await started(answersOk());
    const transport = newTransport();
    await transport.send(requestTo(silent.url));
    const sending = transport.send(requestTo(receiver.url, { timeoutMs: SHORT_MS }));
    await transport.close();
    expect(await sending).toMatchObject({ error: 'aborted', detail: 'the transport was closed' });
    await until(() => silent.openConnections === 0, 'the connections to be closed');
  });

  it('resolves for every caller', async () => {
    const receiver = await started(answersOk());
    const transport = newTransport();
    await transport.send(requestTo(receiver.url));
    await Promise.all([transport.close(), transport.close()]);
    await until(() => receiver.openConnections === 0, 'the connections to be closed');
  });

  it('is permanent', async () => {
    const transport = newTransport();
    await transport.close();
    await transport.close();
    await expect(transport.send(requestTo('http://127.0.0.1:9/'))).rejects.toMatchObject({
      name: 'ClosedError',
    });
  });
});

function numbered(url: string, number: number) {
  return requestTo(url, { body: Buffer.from(String(number)) });
}

function arrivals({ requests }: { readonly requests: readonly { readonly body: Buffer }[] }): number[] {
  return requests.map(({ body }) => Number(body.toString())).toSorted((a, b) => a - b);
}
