import { describe, expect, it } from 'vitest';
import { LatencyHistogram } from '../../../src/replay/load/latency-histogram.ts';
import type { LoadSecond } from '../../../src/replay/load/load-recorder.ts';
import { Timeline } from '../../../src/replay/load/timeline.ts';

const NONE = new LatencyHistogram().percentilesMs();

function second(number: number, rate: number, p99: number): LoadSecond {
  const latencyMs = { ...NONE, p50: p99 / 2, p99, max: p99 };
  return { second: number, sent: rate, rate, behindMs: 0, latencyMs, serviceMs: NONE, errors: 1 };
}

describe('the timeline of a load', () => {
  it('keeps a bounded number of points at any length, with all errors and the longest time', () => {
    const timeline = new Timeline();
    const seconds = 100_000;
    for (let n = 1; n <= seconds; n++) timeline.add(second(n, 200, n === 777 ? 5_000 : 10));
    const points = timeline.points(600);
    expect(points.length).toBeLessThanOrEqual(600);
    expect(points.length).toBeGreaterThan(200);
    expect(points.at(-1)?.second).toBe(seconds);
    expect(points.reduce((sum, { errors }) => sum + errors, 0)).toBe(seconds);
    expect(points.every(({ rate }) => rate === 200)).toBe(true);
    expect(Math.max(...points.map(({ p99 }) => p99 ?? 0))).toBe(5_000);
  });

  it('joins points for a narrow picture', () => {
    const timeline = new Timeline();
    for (let n = 1; n <= 10; n++) timeline.add(second(n, n, n));
    expect(timeline.points(5).map(({ second: last, rate, p99 }) => [last, rate, p99])).toEqual([
      [2, 1.5, 2],
      [4, 3.5, 4],
      [6, 5.5, 6],
      [8, 7.5, 8],
      [10, 9.5, 10],
    ]);
  });
});

describe('the histogram of a load', () => {
  it('has the percentiles of its times, with three significant figures', () => {
    const histogram = new LatencyHistogram();
    for (let ms = 1; ms <= 10_000; ms++) histogram.add(ms / 10);
    const { p50, p99, max } = histogram.percentilesMs();
    expect(p50).toBeCloseTo(500, -1);
    expect(p99).toBeCloseTo(990, -1);
    expect(max).toBeCloseTo(1_000, -1);
  });

  it('has no percentiles without times, and merges others', () => {
    const [one, two] = [new LatencyHistogram(), new LatencyHistogram()];
    expect(one.percentilesMs().p50).toBeNull();
    two.add(5);
    one.drain(two);
    expect(one.percentileMs(100)).toBeCloseTo(5, 1);
    expect(two.percentileMs(100)).toBeUndefined();
  });

  it('counts a time below a microsecond and one above a day', () => {
    const histogram = new LatencyHistogram();
    histogram.add(0);
    histogram.add(1e9);
    expect(histogram.percentileMs(50)).toBe(0.001);
    expect(histogram.percentileMs(100)).toBeGreaterThan(86_000_000);
  });
});
