import { describe, expect, it } from 'vitest';
import { nextWaitMs, type RetrySituation } from '../../src/client/backoff.ts';

const situation = (given: Partial<RetrySituation>): RetrySituation => ({
  attempts: 1,
  now: 0,
  endAt: Infinity,
  random: 1,
  ...given,
});

describe('nextWaitMs', () => {
  it('doubles from 500 ms to at most 30 s, and ends after ten attempts', () => {
    const waits = Array.from({ length: 10 }, (_, index) => nextWaitMs(situation({ attempts: index + 1 })));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, undefined]);
  });

  it('is half fixed and half random', () => {
    expect(nextWaitMs(situation({ attempts: 2, random: 0 }))).toBe(500);
    expect(nextWaitMs(situation({ attempts: 2, random: 0.5 }))).toBe(750);
  });

  it('is no shorter than Retry-After asks, up to ten minutes', () => {
    expect(nextWaitMs(situation({ retryAfterMs: 7_000 }))).toBe(7_000);
    expect(nextWaitMs(situation({ retryAfterMs: 1 }))).toBe(500);
    expect(nextWaitMs(situation({ retryAfterMs: 86_400_000 }))).toBe(600_000);
  });

  it('ends at endAt, after which there is no attempt', () => {
    expect(nextWaitMs(situation({ retryAfterMs: 7_000, endAt: 3_000 }))).toBe(3_000);
    expect(nextWaitMs(situation({ now: 3_000, endAt: 3_000 }))).toBeUndefined();
  });
});
