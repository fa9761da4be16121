import { describe, expect, it } from 'vitest';
import { A, answer, B, C, createHarness, startHarness, failure } from '../harness.ts';

const HOUR = 3_600_000;

describe('an attempt', () => {
  it('posts the exact body, signed, with the headers of its webhook', async () => {
    const harness = startHarness(() => answer(200), { secrets: ['s3cret', 'older'] });
    const body = new TextEncoder().encode('{"type":"delete"}');
    await harness.send({ body });
    await harness.clock.advance(0);
    const [request] = harness.requests;
    expect(request?.body).toBe(body);
    expect(request).toMatchObject({ url: A, timeoutMs: 5_000 });
    expect(request?.headers).toEqual([
      'User-Agent',
      'hooks-cli/0.0.0',
      'Content-Type',
      'application/json',
      'Idempotency-Key',
      expect.stringMatching(/^[!-~]{1,255}$/),
      'X-Signature',
      // printf '{"type":"delete"}' | openssl dgst -sha1 -hmac s3cret
      '8bdd143ab8c17c5e54306ac9ee4441d2224dc27e',
    ]);
    expect(harness.events).toMatchObject([
      {
        kind: 'attempt',
        signature: '8bdd143ab8c17c5e54306ac9ee4441d2224dc27e',
        attempt: { url: A, round: 1, result: 'delivered', status: 200, ms: 7 },
      },
      {
        kind: 'settled',
        signature: '8bdd143ab8c17c5e54306ac9ee4441d2224dc27e',
        delivery: { state: 'delivered' },
      },
    ]);
  });

  it('carries no signature without a secret', async () => {
    const harness = startHarness(() => answer(200));
    await harness.sendAndAdvance(0);
    expect(harness.requests[0]?.headers).not.toContain('X-Signature');
    expect(harness.events).toMatchObject([{ kind: 'attempt' }, { kind: 'settled' }]);
  });

  it('is recorded with the response or the network error', async () => {
    const results = [
      answer(503, { body: 'over capacity' }),
      { ...failure('reset'), reconnected: true },
      answer(429),
      answer(302),
    ];
    const harness = startHarness((_, turn) => results[turn] ?? answer(200));
    await harness.sendAndAdvance(HOUR);
    const at = harness.requests.map((request) => request.at);
    const common = { url: A, ms: 7 };
    expect(harness.onlySettled().progress.attempts).toEqual([
      {
        ...common,
        at: at[0],
        round: 1,
        result: 'retryable',
        status: 503,
        error: 'http-5xx',
        detail: 'over capacity',
      },
      {
        ...common,
        at: at[1],
        round: 2,
        result: 'retryable',
        error: 'reset',
        detail: 'it was reset',
        reconnected: true,
      },
      { ...common, at: at[2], round: 3, result: 'retryable', status: 429, error: 'http-4xx' },
      { ...common, at: at[3], round: 4, result: 'rejected', status: 302, error: 'redirect' },
    ]);
  });

  it('is reported before the next attempt starts', async () => {
    const seen: string[] = [];
    const harness = startHarness(
      ({ url }) => {
        seen.push(`POST ${url}`);
        return url === A ? failure('refused') : answer(200);
      },
      {
        urls: [A, B],
        onEvent: (event) => seen.push(event.kind === 'attempt' ? `attempt ${event.attempt.url}` : event.kind),
      },
    );
    await harness.sendAndAdvance(0);
    expect(seen).toEqual([`POST ${A}`, `attempt ${A}`, `POST ${B}`, `attempt ${B}`, 'settled']);
  });
});

describe('Retry-After', () => {
  it('excludes a webhook from rounds until that time, but no others', async () => {
    const harness = startHarness(({ url }) => (url === A ? answer(503, { retryAfter: '60' }) : answer(500)), {
      urls: [A, B],
    });
    await harness.send();
    const start = harness.clock.now();
    await harness.clock.advance(120_000);
    const toA = harness.requests.filter(({ url }) => url === A).map(({ at }) => at - start);
    expect(toA[0]).toBe(0);
    expect(toA[1]).toBeGreaterThanOrEqual(60_000);
    expect(harness.requests.filter(({ url }) => url === B).length).toBeGreaterThan(5);
  });

  it('postpones the next round if every remaining webhook sends it', async () => {
    const harness = startHarness(
      ({ url }, turn) => (turn > 0 ? answer(200) : answer(503, { retryAfter: url === A ? '120' : '90' })),
      { urls: [A, B] },
    );
    await harness.sendAndAdvance(89_999);
    expect(harness.requests).toHaveLength(2);
    await harness.clock.advance(1);
    expect(harness.requests.map(({ url }) => url)).toEqual([A, B, B]);
  });

  it('may be a date', async () => {
    const harness = createHarness((_, turn) =>
      turn > 0 ? answer(200) : answer(503, { retryAfter: new Date(start + 30_000).toUTCString() }),
    );
    const start = harness.clock.now();
    harness.engine.start();
    await harness.sendAndAdvance(29_999);
    expect(harness.requests).toHaveLength(1);
    await harness.clock.advance(1);
    expect(harness.requests).toHaveLength(2);
  });

  it('is dropped when a later response does not repeat it', async () => {
    const harness = startHarness((_, turn) => answer(503, turn === 0 ? { retryAfter: '10' } : {}));
    await harness.sendAndAdvance(10_000);
    const rescheduled = harness.events.flatMap((event) =>
      event.kind === 'rescheduled' ? [event.delivery] : [],
    );
    expect(rescheduled.map(({ progress }) => Object.keys(progress.notBefore))).toEqual([[A], []]);
  });

  it('is cut to the end of the window, so that the webhook is asked again before', async () => {
    const harness = startHarness(() => answer(503, { retryAfter: '999999' }));
    await harness.send();
    const start = harness.clock.now();
    await harness.clock.advance(5 * HOUR);
    expect(harness.requests.map(({ at }) => at - start)).toEqual([0, 4 * HOUR - 50]);
    expect(harness.onlySettled().progress.notBefore).toEqual({ [A]: start + 4 * HOUR });
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('is ignored in the last round, after the other webhooks', async () => {
    const harness = startHarness(
      ({ url }) => (url === A ? answer(503, { retryAfter: '999999' }) : answer(500)),
      { urls: [A, B, C] },
    );
    await harness.sendAndAdvance(5 * HOUR);
    expect(harness.requests.slice(0, 6).map(({ url }) => url)).toEqual([A, B, C, B, C, B]);
    expect(harness.requests.slice(-3).map(({ url }) => url)).toEqual([B, C, A]);
  });
});
