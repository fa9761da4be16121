import { describe, expect, it } from 'vitest';
import {
  afterRound,
  allowance,
  FULL_SPEED,
  nextAllowedAt,
  paceAt,
  slowStart,
  withBegun,
  type AttemptPace,
} from '../../src/engine/pace.ts';

const OPTIONS = { concurrency: 32, threshold: 10, isPatient: true };

const rounds = (pace: AttemptPace, count: number, isWell: boolean, now: number): AttemptPace => {
  let after = pace;
  for (let round = 0; round < count; round++) after = afterRound(after, isWell, OPTIONS, now);
  return after;
};

/** Returns the deliveries that may start in each of `count` seconds, if `wellPercent` of their rounds go well. */
function seconds(count: number, wellPercent: number): readonly number[] {
  let pace = slowStart(OPTIONS, 0);
  return Array.from({ length: count }, (_, second) => {
    const now = second * 1_000;
    pace = paceAt(pace, OPTIONS, now);
    const most = allowance(pace, now + 999.999);
    pace = rounds(pace, wellPercent, true, now);
    pace = rounds(pace, 100 - wellPercent, false, now);
    // A success here would end the trouble and start slowly again.
    pace = { ...pace, failures: 0 };
    return most;
  });
}

describe('the pace of a lane', () => {
  it('is unlimited while fewer rounds in a row fail than the threshold', () => {
    const shaken = rounds(FULL_SPEED, 9, false, 0);
    expect(allowance(shaken, 0)).toBe(Infinity);
    expect(allowance(rounds(shaken, 1, true, 0), 0)).toBe(Infinity);
    expect(rounds(shaken, 1, true, 0)).toEqual(FULL_SPEED);
  });

  it('is slowed while the destination is down, and starts slowly after the first success', () => {
    let down = rounds(FULL_SPEED, 10, false, 0);
    for (const now of [0, 1_000, 2_000]) {
      down = rounds(paceAt(down, OPTIONS, now), 5, false, now);
      expect([allowance(down, now), allowance(down, now + 500)]).toEqual([1, 17]);
    }
    const back = rounds(down, 1, true, 2_500);
    expect(allowance(back, 3_000)).toBe(17);
    expect(allowance(paceAt(rounds(back, 1, true, 3_000), OPTIONS, 3_500), 4_000)).toBe(33);
  });

  it('is unlimited for a short retry window while the destination is down, and starts slowly afterwards', () => {
    const impatient = { ...OPTIONS, isPatient: false };
    let down = FULL_SPEED;
    for (let round = 0; round < 10; round++) down = afterRound(down, false, impatient, 0);
    expect(allowance(down, 0)).toBe(Infinity);
    const back = afterRound(down, true, impatient, 5_000);
    expect([allowance(back, 5_000), allowance(back, 5_500)]).toEqual([1, 17]);
    let again = back;
    for (let round = 0; round < 10; round++) again = afterRound(again, false, impatient, 5_100);
    expect(allowance(again, 5_100)).toBe(Infinity);
  });

  it('doubles with each second that goes well, until it is unlimited', () => {
    expect(seconds(12, 100)).toEqual([
      32,
      64,
      128,
      256,
      512,
      1024,
      2048,
      4096,
      8192,
      16_384,
      Infinity,
      Infinity,
    ]);
  });

  it('doubles if a quarter of the rounds goes well', () => {
    expect(seconds(3, 25)).toEqual([32, 64, 128]);
  });

  it('stays the same while most rounds fail', () => {
    expect(seconds(3, 24)).toEqual([32, 32, 32]);
  });

  it('returns to the first step if no round succeeds', () => {
    const fast = paceAt(rounds(slowStart(OPTIONS, 0), 5, true, 0), OPTIONS, 1_000);
    expect(allowance(fast, 1_500)).toBe(33);
    const failing = paceAt(rounds(fast, 5, false, 1_500), OPTIONS, 2_000);
    expect(allowance(failing, 2_500)).toBe(17);
  });

  it('ignores a second without results', () => {
    const later = paceAt(slowStart(OPTIONS, 0), OPTIONS, 60_000);
    expect(allowance(later, 60_500)).toBe(17);
  });

  it('spreads the deliveries of a second evenly', () => {
    const pace = withBegun(slowStart(OPTIONS, 0), 17);
    expect(allowance(pace, 500)).toBe(0);
    expect(nextAllowedAt(pace)).toBeCloseTo(531.25);
    expect(allowance(pace, nextAllowedAt(pace))).toBe(1);
    expect(nextAllowedAt(withBegun(pace, 15))).toBe(1_000);
    expect(allowance(withBegun(pace, 15), 999)).toBe(0);
  });
});
