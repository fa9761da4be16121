/** Two neighbouring buckets differ by 2 %, so a value is at most 1 % from the middle of its own. */
const STEP = 1.02;
const LOG_STEP = Math.log(STEP);
const SMALLEST_MS = 0.001;
/** Enough buckets for 34 hours; a longer duration counts as that. */
const BUCKETS = 1 + Math.ceil(Math.log(124e6 / SMALLEST_MS) / LOG_STEP);

export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Durations in constant memory: percentiles within 1 % of the exact ones. */
export class Latency {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #smallest = Infinity;
  #largest = 0;

  add(ms: number): void {
    const bucket = Math.round(Math.log(Math.max(ms, SMALLEST_MS) / SMALLEST_MS) / LOG_STEP);
    const index = Math.min(bucket, BUCKETS - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count++;
    this.#smallest = Math.min(this.#smallest, ms);
    this.#largest = Math.max(this.#largest, ms);
  }

  /** In ms, with microseconds; null when there are no durations. */
  percentiles(): Percentiles {
    return { p50: this.#percentile(0.5), p95: this.#percentile(0.95), p99: this.#percentile(0.99) };
  }

  /** The nearest rank: at least this share of all values is no larger. */
  #percentile(share: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.ceil(share * this.#count);
    const index = this.#counts.findIndex((count) => (left -= count) <= 0);
    const middle = SMALLEST_MS * STEP ** index;
    return Math.round(Math.min(Math.max(middle, this.#smallest), this.#largest) * 1_000) / 1_000;
  }
}
