import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { dueTimes, WHOLE, withWarmup, type LoadCurve } from '../../../src/replay/load/load-curve.ts';
import { curveOf, readShape } from '../../../src/replay/load/load-shape.ts';

function timesOf(curve: LoadCurve): number[] {
  return [...dueTimes(curve, WHOLE)];
}

function countBetween(times: readonly number[], from: number, to: number): number {
  return times.filter((time) => time >= from && time < to).length;
}

/** A shape, and the rate that it has at a time. */
interface Example {
  readonly text: string;
  readonly rateAt: (ms: number, forMs: number) => number;
}

const rate = fc.integer({ min: 1, max: 500 });
const pair = fc.tuple(rate, rate);
const smooth: fc.Arbitrary<Example> = fc.oneof(
  rate.map((each) => ({ text: `${each}/s`, rateAt: () => each })),
  pair.map(([from, to]) => ({
    text: `${from}..${to}/s`,
    rateAt: (ms: number, forMs: number) => from + ((to - from) * ms) / forMs,
  })),
  fc.tuple(rate, rate, rate).map(([from, to, step]) => ({
    text: `${from}..${to}/s:step ${step} each 1s`,
    rateAt: (ms: number) => {
      const change = step * Math.floor(ms / 1_000);
      return from < to ? Math.min(to, from + change) : Math.max(to, from - change);
    },
  })),
  pair.map(([first, then]) => ({
    text: `1s:${first}/s,2s:${then}/s`,
    rateAt: (ms: number) => (ms < 1_000 ? first : then),
  })),
  pair.map(([low, high]) => ({
    text: `sine ${low}..${high}/s period 2s`,
    rateAt: (ms: number) => (low + high) / 2 - (Math.abs(high - low) / 2) * Math.cos((Math.PI * ms) / 1_000),
  })),
);
const shape = fc.oneof(
  smooth.map(({ text }) => text),
  rate.map((size) => `burst ${size} each 500ms`),
);
const forTime = fc.integer({ min: 200, max: 5_000 });

describe('the shape of a load', () => {
  it('makes each message due at or after the one before, and within the time', () => {
    fc.assert(
      fc.property(shape, forTime, (text, forMs) => {
        const curve = curveOf(text, forMs);
        const times = timesOf(curve);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(times[0]).toBeCloseTo(0);
        expect(curve.durationMs).toBe(forMs);
        expect(times.every((time) => time >= 0 && time < forMs)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('has as many messages in a part of the time as its rate there says', () => {
    fc.assert(
      fc.property(smooth, ({ text, rateAt }) => {
        const times = timesOf(curveOf(text, 3_000));
        for (let from = 0; from < 3_000; from += 250) {
          let expected = 0;
          for (let ms = from; ms < from + 250; ms++) expected += rateAt(ms + 0.5, 3_000) / 1_000;
          expect(Math.abs(countBetween(times, from, from + 250) - expected)).toBeLessThan(1.5);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is the sum of the shares of several senders', () => {
    fc.assert(
      fc.property(shape, forTime, fc.integer({ min: 1, max: 7 }), (text, forMs, of) => {
        const curve = withWarmup(curveOf(text, forMs), 300);
        const shares = Array.from({ length: of }, (_, index) => [...dueTimes(curve, { index, of })]);
        expect(shares.flat().toSorted((a, b) => a - b)).toEqual(timesOf(curve));
        const counts = shares.map(({ length }) => length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });

  it('has the messages of a long time without keeping its stages', () => {
    const day = 24 * 60 * 60 * 1_000;
    const times = dueTimes(curveOf('sine 0..2/s period 1s', day), WHOLE);
    let count = 0;
    for (let next = times.next(); !next.done; next = times.next()) count++;
    expect(count).toBe(86_400);
  });

  it.each([
    ['200/s', 10_000, 2_000],
    ['30/m', 60_000, 30],
    ['50..500/s', 10_000, 2_750],
    ['0..100/s', 10_000, 500],
    ['50..200/s:step 50 each 1s', 6_000, 50 + 100 + 150 + 200 * 3],
    ['200..50/s : step 100 each 1s', 4_000, 200 + 100 + 50 * 2],
    ['burst 1000 each 30s', 60_000, 2_000],
    ['sine 50..150/s period 1s', 4_000, 400],
    ['1s:50/s,2s:100..200/s', 3_000, 50 + 300],
    ['1s:50/s, 1s:100/s', 4_000, 50 + 300],
    ['1s:50/s,2s:100/s', 1_500, 50 + 50],
  ])('%s for %d ms has %d messages', (text, forMs, count) => {
    expect(timesOf(curveOf(text, forMs))).toHaveLength(count);
  });

  it('takes the time of stages from the stages', () => {
    expect(curveOf('30s:50/s,1m:200/s', undefined).durationMs).toBe(90_000);
  });

  it('spaces a constant rate evenly, and sends a burst at once', () => {
    expect(timesOf(curveOf('4/s', 1_000))).toEqual([0, 250, 500, 750]);
    expect(timesOf(curveOf('burst 2 each 1s', 1_500))).toEqual([0, 0, 1_000, 1_000]);
  });

  it('begins a warm-up with the first rate, and shifts the rest', () => {
    const curve = withWarmup(curveOf('10..30/s', 2_000), 1_000);
    const times = timesOf(curve);
    expect(curve.durationMs).toBe(3_000);
    expect(countBetween(times, 0, 1_000)).toBe(10);
    expect(countBetween(times, 1_000, 3_000)).toBe(40);
  });

  it('searches the highest rate for the given time', () => {
    expect(readShape('max', 60_000)).toEqual({ kind: 'max', durationMs: 60_000 });
  });

  it.each([
    ['200', 'rate such as 200/s, got 200'],
    ['200/x', 'rate such as 200/s, got 200/x'],
    ['0/s', 'shape that sends a message, got 0/s'],
    ['0..0/s', 'shape that sends a message, got 0..0/s'],
    ['sine 0..0/s period 1s', 'shape that sends a message'],
    ['9999999/s', 'rate of at most 1000000/s, got 9999999/s'],
    ['-5/s', 'rate such as 200/s, got -5/s'],
    ['fast', 'rate such as 200/s, got fast'],
    ['burst 0 each 1s', 'whole number above 0, got 0'],
    ['burst many each 1s', 'whole number above 0, got many'],
    ['burst 5 each 0s', 'time such as 30s, got 0s'],
    ['burst 5 each soon', 'time such as 30s, got soon'],
    ['burst 5', 'rate such as 200/s, got burst 5'],
    ['sine 5/s period 1s', 'rate such as 200/s, got sine 5/s period 1s'],
    ['sine 5..9/s period 1', 'time such as 30s, got 1'],
    ['5..50/s:step 0 each 1s', 'whole number above 0, got 0'],
    ['5..50:step 5 each 1s', 'rate such as 200/s, got 5..50'],
    ['30s:fast', 'rate such as 200/s, got fast'],
    ['30x:5/s', 'time such as 30s, got 30x'],
    ['30s:5/s,', 'stage such as 30s:50/s, got nothing'],
    ['1s:0/s', 'shape that sends a message, got 1s:0/s'],
  ])('rejects %s, and names the part that is wrong', (text, expected) => {
    const read = (): unknown => readShape(text, 10_000);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`Expected \`--load\` to have a ${expected}`);
  });

  it('can pause in a stage', () => {
    expect(timesOf(curveOf('1s:2/s,1s:0/s,1s:2/s', undefined))).toEqual([0, 500, 2_000, 2_500]);
  });

  it.each(['200/s', 'max'])('rejects %s without a time', (text) => {
    expect(() => readShape(text, undefined)).toThrow(`\`--load ${text}\` needs a duration`);
  });
});
