import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { BatchRetry } from '../../src/client/tracking-api-options.ts';
import { collectUncaught } from '../uncaught.ts';
import type { Answer } from './batch-receiver.ts';
import { anyNumber, trackingApi, tracks } from './tracking-api.ts';

describe('a failed attempt', () => {
  it.each([408, 429, 500, 503, 599])(
    'with %i is repeated with a new sentAt and the same messages',
    async (status) => {
      const { receiver, trackOne } = await trackingApi();
      receiver.answers.push({ status }, { status });
      const receipt = await trackOne();
      expect(receipt.accepted).toBe(true);
      expect(receiver.received).toHaveLength(3);
      expect(new Set(receiver.received.map(({ sentAt }) => sentAt)).size).toBe(3);
      expect(new Set(receiver.received.map(({ batch }) => JSON.stringify(batch))).size).toBe(1);
      expect(receipt.attempts).toMatchObject([
        { status, error: errorOf(status) },
        { status },
        { status: 200 },
      ]);
    },
  );

  it('is repeated up to ten attempts with growing waits, then the messages are rejected', async () => {
    const { receiver, clock, trackOne } = await trackingApi();
    receiver.answers.push(...Array.from({ length: 20 }, () => ({ status: 503, body: 'no\nroom' })));
    expect(await trackOne()).toMatchObject({
      accepted: false,
      code: 'http-5xx',
      reason: `after 10 attempts: 503 from ${receiver.url}/v1/batch: no\\nroom`,
    });
    expect(receiver.received).toHaveLength(10);
    expect(clock.waits.filter((ms) => ms > 0)).toEqual([
      375, 750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500,
    ]);
  });

  it('waits as long as Retry-After asks, in seconds or as a date', async () => {
    const { receiver, clock, trackOne } = await trackingApi();
    receiver.answers.push(
      { status: 429, headers: { 'Retry-After': '7' } },
      { status: 503, headers: { 'Retry-After': 'Thu, 01 Jan 2026 00:00:20 GMT' } },
    );
    await trackOne();
    expect(clock.waits.filter((ms) => ms > 0)).toEqual([7_000, 13_000]);
  });

  it('is repeated even if the listener throws', async () => {
    const caught = collectUncaught();
    const { receiver, trackOne } = await trackingApi();
    receiver.answers.push({ status: 503 });
    const receipt = await trackOne({ onRetry: fails });
    expect(receipt).toMatchObject({ accepted: true, attempts: [{ status: 503 }, { status: 200 }] });
    expect(caught).toEqual([new Error(`503 from ${receiver.url}/v1/batch`)]);
  });

  it('is reported to onRetry with the wait until the next attempt', async () => {
    const { receiver, trackOne } = await trackingApi();
    const retries: BatchRetry[] = [];
    receiver.answers.push({ status: 503 });
    await trackOne({ onRetry: (retry) => retries.push(retry) });
    expect(retries).toEqual([
      {
        attempt: {
          at: Date.UTC(2026, 0, 1),
          url: `${receiver.url}/v1/batch`,
          round: 1,
          result: 'retryable',
          status: 503,
          error: 'http-5xx',
          ms: anyNumber,
        },
        attempts: 1,
        reason: `503 from ${receiver.url}/v1/batch`,
        waitMs: 375,
        messages: 1,
      },
    ]);
  });

  it('is final when the retry window is over', async () => {
    const { receiver, trackOne } = await trackingApi();
    receiver.answers.push({ status: 503 }, { status: 503 });
    expect(await trackOne({ retryForMs: 0 })).toMatchObject({ accepted: false });
    expect(receiver.received).toHaveLength(1);
  });

  it('without a connection is repeated', async () => {
    const { receiver, trackOne } = await trackingApi();
    await receiver.close();
    const receipt = await trackOne({ retryForMs: 2_000 });
    expect(receipt).toMatchObject({ accepted: false, code: 'refused' });
    expect(receipt.attempts?.length).toBeGreaterThan(2);
    expect(receipt.attempts?.[0]).toMatchObject({ error: 'refused' });
  });

  it('that timed out is repeated', async () => {
    const { receiver, trackOne } = await trackingApi();
    const never: Answer = { status: 200, after: new Promise(() => {}) };
    receiver.answers.push(never);
    // Long enough for the second attempt to succeed on a busy machine.
    expect(await trackOne({ timeoutMs: 1_000 })).toMatchObject({
      accepted: true,
      attempts: [{ error: 'timeout' }, { status: 200 }],
    });
  });

  it.each([
    [400, 'http-4xx'],
    [401, 'http-4xx'],
    [404, 'http-4xx'],
    [302, 'redirect'],
  ])('with %i is final: the messages are rejected with the text of the response', async (status, code) => {
    const { receiver, setUp } = await trackingApi();
    receiver.answers.push({ status, body: `{"message":"bad\u0007 key"}` });
    expect(await tracks(setUp({ flushAt: 2 }), 2)).toMatchObject(
      ['m0', 'm1'].map((messageId) => ({
        accepted: false,
        messageId,
        code,
        reason: `${status} from ${receiver.url}/v1/batch: {"message":"bad\\u0007 key"}`,
      })),
    );
    expect(receiver.received).toHaveLength(1);
  });
});

describe('an interruption', () => {
  it('ends the wait for a retry', async () => {
    const { receiver, trackOne } = await trackingApi();
    const interruption = new AbortController();
    receiver.answers.push({ status: 503 }, { status: 503 });
    const options = { signal: interruption.signal, onRetry: () => interruption.abort() };
    expect(await trackOne(options)).toMatchObject({
      accepted: false,
      code: 'aborted',
      reason: `interrupted; 503 from ${receiver.url}/v1/batch`,
      attempts: [{ status: 503, error: 'http-5xx' }],
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('rejects queued messages without sending them', async () => {
    const { receiver, setUp } = await trackingApi();
    const client = setUp({}, { signal: AbortSignal.abort() });
    expect(await client.track({ userId: 'u', event: 'e', messageId: 'm' })).toEqual({
      accepted: false,
      messageId: 'm',
      code: 'aborted',
      reason: 'interrupted before it was sent',
      attempts: [],
    });
    expect(receiver.received).toEqual([]);
  });

  it('ends the attempt in flight', async () => {
    const { receiver, trackOne } = await trackingApi();
    const interruption = new AbortController();
    receiver.answers.push(() => {
      interruption.abort();
      return { status: 200, after: sleep(2_000, undefined, { ref: false }) };
    });
    expect(await trackOne({ signal: interruption.signal })).toMatchObject({
      accepted: false,
      code: 'aborted',
    });
  });
});

function fails({ reason }: BatchRetry): never {
  throw new Error(reason);
}

function errorOf(status: number): string {
  return status >= 500 ? 'http-5xx' : 'http-4xx';
}
