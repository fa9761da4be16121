import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../src/clock.ts';
import {
  isLastRound,
  nextRoundAt,
  ROUND_BACKOFF,
  type NextRound,
} from '../../../src/engine/round/schedule.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 1);

function next(fields: Partial<NextRound>): number | undefined {
  const at = nextRoundAt({
    now: T0,
    firstAttemptAt: T0,
    retryForMs: 4 * HOUR,
    rounds: 1,
    notBefore: [0],
    roundMs: 0,
    random: 0,
    ...fields,
  });
  return at === undefined ? undefined : at - T0;
}

/** A situation this long before the end of the window, after so many rounds that the waits are the longest. */
const late = (leftMs: number): Partial<NextRound> => ({
  now: T0 + 4 * HOUR - leftMs,
  rounds: 20,
  random: 0.9,
  roundMs: 20_000,
});
const waitMs = (rounds: number, random: number): number => backoffMs(ROUND_BACKOFF, rounds, random);

describe('the wait between rounds', () => {
  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [10, 512_000],
    [11, 600_000],
    [40, 600_000],
    [5_000, 600_000],
  ])('after round %i has a fixed and a random half, of %i ms together', (rounds, full) => {
    expect(waitMs(rounds, 0)).toBe(full / 2);
    expect(waitMs(rounds, 0.5)).toBe(full * 0.75);
    expect(waitMs(rounds, 1 - Number.EPSILON)).toBeLessThanOrEqual(full);
  });
});

describe('nextRoundAt', () => {
  it('waits longer after each round', () => {
    expect([1, 2, 3, 4].map((rounds) => next({ rounds }))).toEqual([500, 1_000, 2_000, 4_000]);
  });

  it.each<[title: string, situation: Partial<NextRound>, expected: number | undefined]>([
    ['counts from now, not from the first attempt', { now: T0 + HOUR }, HOUR + 500],
    ['waits for the first webhook that may be asked', { notBefore: [T0 + 60_000, T0 + 30_000] }, 30_000],
    ['does not wait while one may be asked', { notBefore: [T0 + 60_000, 0] }, 500],
    ['keeps the backoff despite an earlier Retry-After', { rounds: 11, notBefore: [T0 + 1_000] }, 300_000],
    ['moves the last round so that all of it fits into the window', late(400_000), 4 * HOUR - 20_000 - 50],
    ['keeps the shortest wait rather than a whole round', late(310_000), 4 * HOUR - 50],
    [
      'has no round if the window is too short for the shortest wait',
      { ...late(300_000), random: 0, roundMs: 0 },
      undefined,
    ],
    ['cuts a later Retry-After to the window', { notBefore: [T0 + 9 * HOUR] }, 4 * HOUR - 50],
    ['also with rounds that take long', { notBefore: [T0 + 4 * HOUR], roundMs: 20_000 }, 4 * HOUR - 20_050],
    [
      'respects a Retry-After within the window, even if it cuts the round short',
      { notBefore: [T0 + 4 * HOUR - 1_000], roundMs: 20_000 },
      4 * HOUR - 1_000,
    ],
    ['allows only one round without a window', { retryForMs: 0 }, undefined],
    ['allows only one round without a window, later too', { now: T0 + 5_000, retryForMs: 0 }, undefined],
    ['allows no round after the window', { now: T0 + 4 * HOUR + 1 }, undefined],
  ])('%s', (_, situation, expected) => {
    expect(next(situation)).toBe(expected);
  });

  const situations = fc.record({
    now: fc.integer({ min: 0, max: 5 * HOUR }).map((ms) => T0 + ms),
    firstAttemptAt: fc.constant(T0),
    retryForMs: fc.oneof(
      fc.constantFrom(0, 1, 50, 1_000, 30_000, 4 * HOUR),
      fc.integer({ min: 0, max: 5 * HOUR }),
    ),
    rounds: fc.integer({ min: 1, max: 60 }),
    notBefore: fc.array(
      fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 6 * HOUR }).map((ms) => T0 + ms),
      ),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
    roundMs: fc.oneof(fc.constantFrom(0, 5_000, 20_000), fc.integer({ min: 0, max: 120_000 })),
    random: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
  });

  it('is within the window, after the shortest wait and after the first Retry-After', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const at = nextRoundAt(situation);
        if (at === undefined) return;
        const windowEnd = situation.firstAttemptAt + situation.retryForMs;
        expect(at).toBeLessThanOrEqual(windowEnd);
        expect(at - situation.now).toBeGreaterThanOrEqual(waitMs(situation.rounds, 0));
        const asked = Math.min(...situation.notBefore);
        if (asked < windowEnd) expect(at).toBeGreaterThanOrEqual(asked);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is at most the longest wait or the Retry-After', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const at = nextRoundAt(situation);
        if (at === undefined) return;
        const longest = situation.now + 2 * waitMs(situation.rounds, 0);
        expect(at).toBeLessThanOrEqual(Math.max(longest, ...situation.notBefore));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is undefined only if the shortest wait or the Retry-After exceeds the window', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        if (nextRoundAt(situation) !== undefined) return;
        const windowEnd = situation.firstAttemptAt + situation.retryForMs;
        const asked = Math.min(...situation.notBefore);
        const earliest = Math.max(situation.now + waitMs(situation.rounds, 0), asked < windowEnd ? asked : 0);
        expect(earliest).toBeGreaterThan(windowEnd - 50);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('isLastRound', () => {
  const soFar = { firstAttemptAt: T0, retryForMs: 4 * HOUR, rounds: 11 };

  it('is true if even the shortest wait exceeds the window', () => {
    expect(isLastRound({ ...soFar, now: T0 + 4 * HOUR - 300_051 })).toBe(false);
    expect(isLastRound({ ...soFar, now: T0 + 4 * HOUR - 300_049 })).toBe(true);
  });

  it('is true for the first round without a window', () => {
    expect(isLastRound({ ...soFar, retryForMs: 0, rounds: 1, now: T0 })).toBe(true);
  });
});
