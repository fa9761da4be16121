import { describe, expect, it } from 'vitest';
import {
  answers,
  answersBytes,
  answersOk,
  closesBeforeAnswer,
  dripsBody,
  dripsHeaders,
  endlessBody,
  endlessInterim,
  hugeBody,
  hugeHeaders,
  neverAnswers,
  receiver,
  type HostileReceiver,
} from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { hooks } from '../cli/run-in-process.ts';
import { closedPort, peakMemory, send as sendBy, type Sent } from './delivering.ts';
import { BUFFERS_BYTES, MEMORY_MB, ONCE, PATIENT } from './hostile-limits.ts';

const TIMEOUT_MS = 250;
const ONCE_BRIEFLY = [...ONCE, '--timeout', `${TIMEOUT_MS}ms`];

/** Runs in this process. Only a test that measures memory needs a process of its own. */
function send(urls: readonly string[], flags?: readonly string[]): Promise<Sent> {
  return sendBy(urls, flags, { run: hooks });
}

/** A label of a host name has at most 63 characters, so no name server is asked. */
const NO_HOST = `http://${'a'.repeat(64)}.invalid/hook`;

describe('hooks send', () => {
  it.each<[string, () => Promise<HostileReceiver>]>([
    ['never responds', neverAnswers],
    ['drips its headers', dripsHeaders],
    ['sends endless interim responses', endlessInterim],
  ])('gives up in time on a receiver that %s', async (_what, receiverOf) => {
    const { url } = await started(receiverOf());
    const { code, line } = await send([url], ONCE_BRIEFLY);
    expect(code).toBe(1);
    expect(line).toMatchObject({ outcome: 'failed', url, error: 'timeout', reason: 'exhausted' });
    expect(line.attempts).toHaveLength(1);
    // Not before the deadline; a timer may fire a little early.
    expect(line.attempts[0]?.ms).toBeGreaterThan(TIMEOUT_MS * 0.9);
  });

  it('decides by the status, and does not wait for a dripping body', async () => {
    const { url } = await started(dripsBody());
    const { code, line } = await send([url], PATIENT);
    expect(code).toBe(0);
    expect(line).toMatchObject({ outcome: 'delivered', url, status: 200 });
    expect(line.attempts).toHaveLength(1);
  });

  it.each<[string, () => Promise<HostileReceiver>, object]>([
    ['an endless body after 200', () => endlessBody(200), { outcome: 'delivered', status: 200 }],
    [
      'an endless body after 500',
      () => endlessBody(500),
      { outcome: 'failed', error: 'http-5xx', status: 500 },
    ],
    ['300 MB of gzip', () => hugeBody(), { outcome: 'delivered', status: 200 }],
    ['300 MB of gzip after 500', () => hugeBody(300_000_000, 500), { outcome: 'failed', status: 500 }],
  ])('reads little of %s', async (_what, receiverOf, result) => {
    const hostile = await started(receiverOf());
    const peak = await peakMemory();
    const { code, line } = await sendBy([hostile.url], [...ONCE, ...PATIENT], { env: peak.env });
    expect(line).toMatchObject(result);
    expect(code).toBe(line.outcome === 'delivered' ? 0 : 1);
    expect(hostile.bytesWritten).toBeLessThan(BUFFERS_BYTES);
    expect(await peak.mb()).toBeLessThan(MEMORY_MB);
  });

  it.each<[string, () => Promise<HostileReceiver>, string]>([
    ['sends 40 KB of headers', () => hugeHeaders(40_000), 'protocol'],
    ['speaks no HTTP', () => answersBytes('garbage\r\n\r\n'), 'protocol'],
    ['responds with a status that HTTP does not have', () => answers(999), 'protocol'],
    ['closes before it responds', () => closesBeforeAnswer(), 'reset'],
    ['resets the connection', () => closesBeforeAnswer({ reset: true }), 'reset'],
    [
      'closes in the middle of its headers',
      () => closesBeforeAnswer({ after: 'HTTP/1.1 200 OK\r\nX-A: b' }),
      'reset',
    ],
  ])('reports the error code of a receiver that %s', async (_what, receiverOf, error) => {
    const hostile = await started(receiverOf());
    const { code, line } = await send([hostile.url], [...ONCE, ...PATIENT]);
    expect(code).toBe(1);
    expect(line).toMatchObject({ outcome: 'failed', url: hostile.url, error, reason: 'exhausted' });
    expect(line.attempts).toMatchObject([{ url: hostile.url, error }]);
    // An examination of the port may follow, which sends no message.
    expect(hostile.requests.filter(({ head: [first] }) => first?.startsWith('POST'))).toHaveLength(1);
  });

  it('counts a 200 as delivered even if its body breaks off', async () => {
    const after = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf';
    const { url } = await started(closesBeforeAnswer({ after }));
    const { code, line } = await send([url]);
    expect([code, line.outcome, line.attempts.length]).toEqual([0, 'delivered', 1]);
  });

  it('reports the error code if no program listens, or the host does not exist', async () => {
    const refusing = await closedPort();
    const results = await Promise.all([refusing, NO_HOST].map((url) => send([url], ONCE)));
    expect(results).toMatchObject([
      { code: 1, line: { outcome: 'failed', url: refusing, error: 'refused' } },
      { code: 1, line: { outcome: 'failed', url: NO_HOST, error: 'dns' } },
    ]);
  });

  it.each([
    ...[301, 302, 303, 307, 308].map((status) => [status, 'redirect'] as const),
    [400, 'http-4xx'] as const,
  ])('neither follows nor retries a response of %i (%s)', async (status, error) => {
    const target = await started(answersOk());
    const { url, requests } = await started(answers(status, { headers: [`Location: ${target.url}`] }));
    const { code, line } = await send([url]);
    expect(code).toBe(1);
    expect(line).toMatchObject({ outcome: 'failed', url, status, error, reason: 'rejected' });
    expect([line.attempts.length, requests.length, target.connections]).toEqual([1, 1, 0]);
  });

  it('retries a busy receiver no earlier than Retry-After says', async () => {
    const sent = await Promise.all(
      [408, 429, 503].map(async (status) => {
        const busy = await started(firstThenOk(status, ['Retry-After: 2']));
        return { busy, status, ...(await send([busy.url])) };
      }),
    );
    for (const { busy, status, code, line } of sent) {
      expect(code).toBe(0);
      expect(line).toMatchObject({ outcome: 'delivered', status: 200 });
      expect(line.attempts).toMatchObject([{ status, error: expect.any(String) as string }, { status: 200 }]);
      expect(busy.requests).toHaveLength(2);
      const [first, second] = line.attempts.map(({ at }) => Date.parse(at));
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2_000);
    }
  });

  it('tries five URLs in order, of which four fail differently, until one accepts the message', async () => {
    const hostile = [
      await started(neverAnswers()),
      await started(answers(410)),
      await started(answersBytes('?\r\n\r\n')),
    ];
    const good = await started(answersOk());
    const urls = [await closedPort(), ...hostile.map(({ url }) => url), good.url];
    // Enough time for the receivers that respond.
    const { code, line } = await send(urls, [...ONCE, '--timeout', '4s']);
    expect(code).toBe(0);
    expect(line).toMatchObject({ outcome: 'delivered', url: good.url, status: 200 });
    expect(line.attempts.map(({ url }) => url)).toEqual(urls);
    expect(line.attempts.map(({ error }) => error)).toEqual([
      'refused',
      'timeout',
      'http-4xx',
      'protocol',
      undefined,
    ]);
    expect([...hostile, good].map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1]);
  });

  it('reports the response of each of five URLs that reject the message', async () => {
    const statuses = [500, 401, 302, 429, 503];
    const hostile = await Promise.all(statuses.map((status) => started(answers(status))));
    const { code, line } = await send(
      hostile.map(({ url }) => url),
      ONCE,
    );
    expect(code).toBe(1);
    expect(line).toMatchObject({ outcome: 'failed', url: hostile[4]?.url, status: 503, reason: 'exhausted' });
    expect(line.attempts.map(({ status }) => status)).toEqual(statuses);
    const errors = line.attempts.map(({ error }) => error).join(' ');
    expect(errors).toBe('http-5xx http-4xx redirect http-4xx http-5xx');
  });

  it('does not ask further webhooks after one has accepted the message', async () => {
    const [good, spare] = [await started(answersOk()), await started(answersOk())];
    const { code, line } = await send([good.url, spare.url]);
    expect([code, line.attempts.length, spare.connections]).toEqual([0, 1, 0]);
  });
});

/** Responds to the first request with this status, and to all others with 200. */
function firstThenOk(status: number, headers: readonly string[]): Promise<HostileReceiver> {
  let isFirst = true;
  return receiver((socket) => {
    const head = isFirst ? [`HTTP/1.1 ${status} Busy`, ...headers] : ['HTTP/1.1 200 OK'];
    isFirst = false;
    socket.write([...head, 'Content-Length: 0', '', ''].join('\r\n'));
  });
}
