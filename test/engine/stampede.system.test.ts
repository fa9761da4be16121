// Takes minutes: each test makes all attempts of ten thousand deliveries.
import { describe, expect, it } from 'vitest';
import type { FakeClock } from '../fake-clock.ts';
import {
  A,
  after,
  answer,
  BODY,
  createHarness,
  startHarness,
  failure,
  type Harness,
  type Receiver,
} from './harness.ts';

const MANY = 10_000;
const MINUTE_MS = 60_000;
/** Most requests in the first second after an outage: a claim of 32, and 8 in a quarter of a second, doubled three times. */
const SLOW_SECOND = 152;
/** Milliseconds since the start of the clock. */
const IN_FIVE_MINUTES = 'Thu, 01 Jan 2026 00:05:00 GMT';

async function submit({ engine }: Harness, count: number): Promise<void> {
  const entry = { type: 'track', body: BODY, orderKeys: [] };
  await engine.submit(
    'web',
    Array.from({ length: count }, (_, index) => ({ ...entry, messageId: `m${index}` })),
  );
}

/** The most requests that arrived within any second since a time. */
function busiestSecond({ requests }: Harness, since: number): number {
  const times = requests.map(({ at }) => at).filter((at) => at >= since);
  let [most, first] = [0, 0];
  times.forEach((at, index) => {
    while ((times[first] ?? at) <= at - 1_000) first++;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

/** Expects that no second has more than 2.5 times the requests of an average second of the catch-up. */
function expectSteady(harness: Harness, since: number): void {
  const times = harness.requests.map(({ at }) => at).filter((at) => at >= since);
  const seconds = Math.max(1, ((times.at(-1) ?? since) - (times[0] ?? since)) / 1_000);
  expect(busiestSecond(harness, since)).toBeLessThanOrEqual((2.5 * times.length) / seconds);
}

/** Waits until the queue is empty, and returns how long this took. */
async function untilIdle({ clock, engine }: Harness): Promise<number> {
  const began = clock.now();
  const idle = new AbortController();
  void engine.idle().then(() => idle.abort());
  const until = began + 60 * MINUTE_MS;
  while (!idle.signal.aborted && clock.now() < until) await clock.advanceToNext(until - clock.now());
  return clock.now() - began;
}

/** Each response takes a millisecond, as for the fastest receivers. */
const quick =
  (clock: () => FakeClock): Receiver =>
  (request) =>
    after(clock(), 1, request, answer(200));

describe('10,000 deliveries', () => {
  it.each([
    ['never responds', 'timeout', 5 * MINUTE_MS],
    ['responds with 503 for a moment', answer(503), 400],
    ['responds with 429 and one time for all', answer(429, { retryAfter: IN_FIVE_MINUTES }), 5 * MINUTE_MS],
  ] as const)('are spread over time when a receiver that %s is back', async (_, trouble, outageMs) => {
    let isDown = true;
    const harness: Harness = startHarness(
      (request) => {
        const { clock } = harness;
        if (!isDown) return after(clock, 1, request, answer(200));
        return trouble === 'timeout' ? after(clock, 5_000, request, failure('timeout')) : trouble;
      },
      { random: Math.random },
    );
    await submit(harness, MANY);
    await harness.clock.advance(outageMs - 1);
    expect(harness.settled()).toEqual([]);

    isDown = false;
    const backAt = harness.clock.now();
    await untilIdle(harness);
    expect(harness.settled()).toHaveLength(MANY);
    const firstSecond = harness.requests.filter(({ at }) => at >= backAt && at < backAt + 1_000);
    expect(firstSecond.length).toBeLessThanOrEqual(SLOW_SECOND);
    expectSteady(harness, backAt);
  });

  it('start slowly if no process was there to deliver them', async () => {
    const harness: Harness = createHarness(quick(() => harness.clock));
    await submit(harness, MANY);
    await harness.clock.advance(60 * MINUTE_MS);
    const startedAt = harness.clock.now();
    harness.engine.start();
    const tookMs = await untilIdle(harness);
    expect(harness.requests.filter(({ at }) => at < startedAt + 1_000).length).toBeLessThanOrEqual(
      SLOW_SECOND,
    );
    expectSteady(harness, startedAt);
    expect(tookMs).toBeLessThanOrEqual(10_000);
  });

  it('start slowly if the process was suspended while they became due', async () => {
    const answers = quick(() => harness.clock);
    const retryAfter = '600';
    const harness: Harness = startHarness(
      (request, turn) => (turn < MANY ? answer(503, { retryAfter }) : answers(request, turn)),
      // Nothing is slowed before.
      { delivery: { health: { failures: 2 * MANY } } },
    );
    await submit(harness, MANY);
    await harness.clock.advance(1_000);
    expect(harness.requests).toHaveLength(MANY);
    await harness.clock.suspend(60 * MINUTE_MS);
    const backAt = harness.clock.now();
    await untilIdle(harness);
    expect(harness.settled()).toHaveLength(MANY);
    const firstSecond = harness.requests.filter(({ at }) => at >= backAt && at < backAt + 1_000);
    expect(firstSecond.length).toBeLessThanOrEqual(SLOW_SECOND);
  });

  it('run at full speed to a healthy receiver', async () => {
    const harness: Harness = startHarness(quick(() => harness.clock));
    await submit(harness, MANY);
    // 32 at a time, a millisecond each.
    expect(await untilIdle(harness)).toBeLessThanOrEqual(500);
  });

  it('fail at full speed with one round if there is no receiver', async () => {
    const harness = startHarness(() => failure('refused'), { delivery: { retryForMs: 0 } });
    await submit(harness, MANY);
    await untilIdle(harness);
    expect(harness.settled()).toHaveLength(MANY);
    expect(new Set(harness.requests.map(({ at, url }) => `${url} ${at}`)).size).toBeLessThanOrEqual(2);
    expect(harness.requests[0]?.url).toBe(A);
  });
});
