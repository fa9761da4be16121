import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS } from '../../src/engine/options.ts';
import { NO_PROGRESS, type Progress } from '../../src/queue/delivery.ts';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { claimOne, newDelivery } from '../queue/new-delivery.ts';
import {
  A,
  after,
  answer,
  B,
  C,
  createHarness,
  startHarness,
  failure,
  type Harness,
  type HarnessOptions,
  type Receiver,
} from './harness.ts';
import { randomFrom } from '../random.ts';

const HOUR = 3_600_000;
const WINDOW_MS = DELIVERY_DEFAULTS.retryForMs;

/** When each round began, in milliseconds since the first attempt. */
function roundStarts({ requests }: Harness): number[] {
  const first = requests[0]?.at ?? 0;
  return requests.map(({ at }) => at - first);
}

async function fourHoursOf(options: HarnessOptions): Promise<Harness> {
  const harness = startHarness(() => answer(503), options);
  await harness.sendAndAdvance(5 * HOUR);
  return harness;
}

describe('four hours of retries', () => {
  it.each([
    ['the shortest waits', () => 0],
    ['the longest waits', () => 1 - Number.EPSILON],
    ['waits in between', randomFrom(1)],
    ['other waits in between', randomFrom(2)],
  ])('with %s double from 1 s to 10 min, half fixed and half random', async (_, random) => {
    const harness = await fourHoursOf({ random });
    const starts = roundStarts(harness);
    const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    for (const [index, wait] of waits.entries()) {
      const full = Math.min(1_000 * 2 ** index, 600_000);
      // The due time of a round is rounded up to a millisecond.
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full + 1);
    }
    expect(Math.max(...starts)).toBeLessThanOrEqual(WINDOW_MS);
    expect(Math.max(...starts)).toBeGreaterThan(WINDOW_MS - 600_000);
  });

  it('make 33 rounds with the longest waits and 57 with the shortest', async () => {
    expect((await fourHoursOf({ random: () => 1 - Number.EPSILON })).requests).toHaveLength(33);
    expect((await fourHoursOf({ random: () => 0 })).requests).toHaveLength(57);
  });

  it('end in a dead letter with all its attempts', async () => {
    const harness = await fourHoursOf({ urls: [A, B] });
    const dead = harness.onlySettled();
    expect(dead).toMatchObject({ state: 'dead', reason: 'exhausted' });
    expect(dead.progress.attempts.map(({ at, url }) => ({ at, url }))).toEqual(
      harness.requests.map(({ at, url }) => ({ at, url })),
    );
    expect(dead.progress.attempts.every(({ error, status }) => error === 'http-5xx' && status === 503)).toBe(
      true,
    );
    expect(dead.progress.rounds).toBe(harness.requests.length / 2);
    expect(await harness.queue.lanes()).toEqual([]);
  });

  it('report after each round when the next is due', async () => {
    const harness = await fourHoursOf({});
    const dueAts = harness.events.flatMap((event) =>
      event.kind === 'rescheduled' ? [event.delivery.dueAt] : [],
    );
    expect(dueAts).toEqual(harness.requests.slice(1).map(({ at }) => at));
  });

  it('stop at the first success, hours later', async () => {
    const harness = startHarness((_, turn) => answer(turn < 20 ? 503 : 200));
    await harness.sendAndAdvance(5 * HOUR);
    expect(harness.requests).toHaveLength(21);
    expect(harness.onlySettled()).toMatchObject({ state: 'delivered', progress: { rounds: 21 } });
  });

  it('start no attempt after the window, and ask every webhook in the last round, even if each takes 5 s', async () => {
    const hanging: Receiver = (request) => after(harness.clock, 5_000, request, failure('timeout'));
    const harness = startHarness(hanging, { urls: [A, B, C], random: randomFrom(3) });
    await harness.sendAndAdvance(5 * HOUR);
    const starts = roundStarts(harness);
    expect(Math.max(...starts)).toBeLessThanOrEqual(WINDOW_MS);
    expect(harness.requests.slice(-3).map(({ url }) => url)).toEqual([A, B, C]);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });
});

describe('the retry window', () => {
  it('of 0 allows one round, with every webhook', async () => {
    const hanging: Receiver = (request) => after(harness.clock, 5_000, request, failure('timeout'));
    const harness = startHarness(hanging, { urls: [A, B], delivery: { retryForMs: 0 } });
    await harness.sendAndAdvance(HOUR);
    expect(harness.requests.map(({ url }) => url)).toEqual([A, B]);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('ends a round that exceeds it', async () => {
    // The second round begins after 5.75 s and outlasts the window of 6 s.
    const harness = startHarness(
      (request, turn) => after(harness.clock, turn === 0 ? 2_500 : 5_000, request, failure('timeout')),
      { urls: [A, B], delivery: { retryForMs: 6_000 } },
    );
    await harness.sendAndAdvance(HOUR);
    expect(harness.requests.map(({ url }) => url)).toEqual([A, B, A]);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('is stored before the first attempt, and the progress before each further one', async () => {
    const clock = new FakeClock();
    const queue = new MemoryQueue(clock);
    const harness = createHarness(
      (request) => (request.url === A ? answer(503) : after(clock, 5_000, request, failure('timeout'))),
      { clock, queue, urls: [A, B] },
    );
    const kept: Progress[] = [];
    const renew = queue.renew.bind(queue);
    queue.renew = (claim, progress, leaseMs) => {
      kept.push(progress);
      return renew(claim, progress, leaseMs);
    };
    harness.engine.start();
    await harness.sendAndAdvance(0);
    expect(harness.requests.map(({ url }) => url)).toEqual([A, B]);
    expect(kept).toMatchObject([
      { rounds: 1, firstAttemptAt: clock.now(), attempts: [{ url: A, status: 503 }] },
    ]);
  });
});

/** A delivery to A and B whose window ended an hour ago, and an engine that starts now. */
async function found(progress: Partial<Progress>, result = 503): Promise<Harness> {
  const clock = new FakeClock();
  const queue = new MemoryQueue(clock);
  const firstAttemptAt = clock.now() - 5 * HOUR;
  await queue.add([newDelivery('old')]);
  const claim = await claimOne(queue);
  const before = { ...NO_PROGRESS, rounds: 7, firstAttemptAt, ...progress };
  await queue.settle(claim, { state: 'retrying', dueAt: clock.now() - HOUR, progress: before });
  const harness = startHarness(() => answer(result), { clock, queue, urls: [A, B] });
  await clock.advance(HOUR);
  await harness.engine.close();
  return harness;
}

describe('a delivery found by a process that starts after its window', () => {
  it('gets one whole late round, and then becomes a dead letter', async () => {
    const harness = await found({});
    expect(harness.requests.map(({ url }) => url)).toEqual([A, B]);
    expect(harness.onlySettled()).toMatchObject({
      state: 'dead',
      reason: 'exhausted',
      progress: { rounds: 8 },
    });
  });

  it('is delivered by the late round if the receiver accepts it', async () => {
    expect((await found({}, 204)).onlySettled().state).toBe('delivered');
  });

  it('skips webhooks that rejected it, and ignores Retry-After', async () => {
    const harness = await found({ rejectedBy: [A], notBefore: { [B]: Number.MAX_SAFE_INTEGER } });
    expect(harness.requests.map(({ url }) => url)).toEqual([B]);
  });

  it('becomes a dead letter at once if every webhook rejected it', async () => {
    const harness = await found({ rejectedBy: [A, B] });
    expect(harness.requests).toEqual([]);
    expect(harness.onlySettled()).toMatchObject({
      state: 'dead',
      reason: 'rejected',
      progress: { rounds: 7 },
    });
  });
});

describe('a delivery that waited for room beyond its window', () => {
  it('gets no late round, since its process was running', async () => {
    const harness = startHarness(
      (request) =>
        after(harness.clock, 5_000, request, request.body.length === 1 ? failure('timeout') : answer(503)),
      { delivery: { concurrency: 1, retryForMs: 6_000 } },
    );
    await harness.send({ body: new Uint8Array(1) });
    await harness.send({ body: new Uint8Array(2) });
    await harness.clock.advance(HOUR);
    for (const { progress } of harness.settled()) {
      for (const { at } of progress.attempts) {
        expect(at).toBeLessThanOrEqual((progress.firstAttemptAt ?? 0) + 6_000);
      }
      expect(progress.rounds).toBe(new Set(progress.attempts.map(({ round }) => round)).size);
    }
    expect(harness.settled().map(({ reason }) => reason)).toEqual(['exhausted', 'exhausted']);
  });
});
