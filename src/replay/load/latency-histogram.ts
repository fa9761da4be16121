import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Percentiles of recorded durations, in ms. Each is null if nothing was recorded. */
export type LatencyMs = Readonly<Record<keyof typeof PERCENTS, number | null>>;

const PERCENTS = { p50: 50, p90: 90, p95: 95, p99: 99, 'p99.9': 99.9, 'p99.99': 99.99, max: 100 } as const;

/** Longest duration that the histogram records, in microseconds: one day. Longer ones count as one day. */
const HIGHEST_US = 86_400_000_000;

/** Collects durations in constant memory. Stores them in microseconds, because Node's histogram accepts only integers. */
export class LatencyHistogram {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: HIGHEST_US, figures: 3 });

  add(ms: number): void {
    this.#histogram.record(Math.min(HIGHEST_US, Math.max(1, Math.round(ms * 1_000))));
  }

  /** Returns the duration in ms that `percent` % of all durations do not exceed. Undefined if nothing was recorded. */
  percentileMs(percent: number): number | undefined {
    return this.#histogram.count === 0 ? undefined : this.#histogram.percentile(percent) / 1_000;
  }

  percentilesMs(): LatencyMs {
    const times = Object.entries(PERCENTS).map(([name, percent]) => [
      name,
      this.percentileMs(percent) ?? null,
    ]);
    return Object.fromEntries(times) as LatencyMs; // each name of PERCENTS has a time
  }

  /** Moves all durations of another histogram into this one. */
  drain(other: LatencyHistogram): void {
    this.#histogram.add(other.#histogram);
    other.#histogram.reset();
  }
}
