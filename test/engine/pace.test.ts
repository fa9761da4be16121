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

/** Returns the deliveries that may start in each of `count` quarters of a second, if `wellPercent` of their rounds go well. */
function quarters(count: number, wellPercent: number): readonly number[] {
  let pace = slowStart(OPTIONS, 0);
  return Array.from({ length: count }, (_, quarter) => {
    const now = quarter * 250;
    pace = paceAt(pace, OPTIONS, now);
    const most = allowance(pace, now + 249.999);
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
    for (const now of [0, 250, 500]) {
      down = rounds(paceAt(down, OPTIONS, now), 5, false, now);
      expect([allowance(down, now), allowance(down, now + 125)]).toEqual([1, 5]);
    }
    const back = rounds(down, 1, true, 600);
    expect(allowance(back, 725)).toBe(5);
    expect(allowance(paceAt(rounds(back, 1, true, 725), OPTIONS, 850), 975)).toBe(9);
  });

  it('is unlimited for a short retry window while the destination is down, and starts slowly afterwards', () => {
    const impatient = { ...OPTIONS, isPatient: false };
    let down = FULL_SPEED;
    for (let round = 0; round < 10; round++) down = afterRound(down, false, impatient, 0);
    expect(allowance(down, 0)).toBe(Infinity);
    const back = afterRound(down, true, impatient, 5_000);
    expect([allowance(back, 5_000), allowance(back, 5_125)]).toEqual([1, 5]);
    let again = back;
    for (let round = 0; round < 10; round++) again = afterRound(again, false, impatient, 5_100);
    expect(allowance(again, 5_100)).toBe(Infinity);
  });

  it('doubles with each quarter of a second that goes well, until it is unlimited', () => {
    expect(quarters(12, 100)).toEqual([8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, Infinity, Infinity]);
  });

  it('lets one delivery start each second if the concurrency is 1', () => {
    const options = { ...OPTIONS, concurrency: 1 };
    const pace = withBegun(slowStart(options, 0), 1);
    expect([250, 500, 999].map((now) => allowance(paceAt(pace, options, now), now))).toEqual([0, 0, 0]);
    expect(allowance(paceAt(pace, options, 1_000), 1_000)).toBe(1);
  });

  it('doubles if a quarter of the rounds goes well', () => {
    expect(quarters(3, 25)).toEqual([8, 16, 32]);
  });

  it('stays the same while most rounds fail', () => {
    expect(quarters(3, 24)).toEqual([8, 8, 8]);
  });

  it('returns to the first step if no round succeeds', () => {
    const fast = paceAt(rounds(slowStart(OPTIONS, 0), 5, true, 0), OPTIONS, 250);
    expect(allowance(fast, 375)).toBe(9);
    const failing = paceAt(rounds(fast, 5, false, 375), OPTIONS, 500);
    expect(allowance(failing, 625)).toBe(5);
  });

  it('ignores a step without results', () => {
    const later = paceAt(slowStart(OPTIONS, 0), OPTIONS, 60_000);
    expect(allowance(later, 60_125)).toBe(5);
  });

  it('spreads the deliveries of a step evenly', () => {
    const pace = withBegun(slowStart(OPTIONS, 0), 5);
    expect(allowance(pace, 125)).toBe(0);
    expect(nextAllowedAt(pace)).toBeCloseTo(156.25);
    expect(allowance(pace, nextAllowedAt(pace))).toBe(1);
    expect(nextAllowedAt(withBegun(pace, 3))).toBe(250);
    expect(allowance(withBegun(pace, 3), 249)).toBe(0);
  });
});
