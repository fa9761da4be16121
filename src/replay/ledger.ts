import type { Clock } from '../clock.ts';
import { IndexRanges } from './index-ranges.ts';

export const OUTCOMES = ['delivered', 'failed', 'queued', 'filtered', 'invalid', 'unsent'] as const;

/**
 * How an entry ended. `filtered`: its `integrations` exclude every destination. `unsent`: the replay was
 * stopped before the outcome was known.
 */
export type LedgerOutcome = (typeof OUTCOMES)[number];

export interface ReplaySummary extends Readonly<Record<LedgerOutcome, number>> {
  readonly read: number;
  /** Number of entries skipped by `--filter`, `--offset` or `--resume`. They do not count as `read`. */
  readonly skipped: number;
  /** Duration of the whole replay in ms. */
  readonly ms: number;
  /** Messages per second that this process delivered, queued or failed to deliver. */
  readonly perSecond: number;
  /** Time from the start of a message's first attempt to its outcome. Null if no message was attempted. */
  readonly latencyMs: Percentiles;
  /** Counts of the entries that the interrupted replay settled. Absent unless this replay resumes one. */
  readonly resumed?: ResumedCounts;
  /** The `--offset` at which the unread entries begin. Present if the replay cannot be resumed and did not read all input. */
  readonly unreadFrom?: number;
  /** The `--offset` of the first entry that was not sent, whether it was read or not. Present if `unreadFrom` is. */
  readonly unsentFrom?: number;
}

/**
 * Counts of the entries that the interrupted replay settled. This replay counts delivered and queued entries as `skipped`,
 * and the others as `failed`, `invalid` or `filtered`.
 */
export interface ResumedCounts {
  /** Whether the earlier replay settled every entry, so that this one sends nothing. */
  readonly finished: boolean;
  readonly delivered: number;
  readonly queued: number;
}

/** Outcomes of a message that the receiver or the queue has accepted. */
export type TakenOutcome = 'delivered' | 'queued';

/**
 * Counts entries by outcome. Each entry is opened once and closed once, and an open entry counts as unsent, so always
 * read = delivered + failed + queued + filtered + invalid + unsent.
 */
export class Ledger {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #latency = new Latency();
  readonly #closedNumbers = new IndexRanges();
  readonly #closed: Record<LedgerOutcome, number> = {
    delivered: 0,
    failed: 0,
    queued: 0,
    filtered: 0,
    invalid: 0,
    unsent: 0,
  };
  #read = 0;
  #skipped = 0;
  /** Counts of the entries that the interrupted replay delivered or queued. Undefined unless this replay resumes one. */
  #resumed: { finished: boolean; delivered: number; queued: number } | undefined;
  #failedBefore = 0;
  #firstUnsent: number | undefined;
  /** The `--offset` of a replay that cannot be resumed. Undefined once all input is read. */
  #offset: number | undefined;

  /** @param offset the `--offset` of a replay that cannot be resumed, whose summary says how far the input was read */
  constructor(clock: Clock, offset?: number) {
    this.#offset = offset;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** Counts an entry that `--filter` or `--offset` excludes. */
  skip(): void {
    this.#skipped++;
  }

  /** Marks this replay as the continuation of an earlier one. */
  resume({ isFinished }: { readonly isFinished: boolean }): void {
    this.#resumed = { finished: isFinished, delivered: 0, queued: 0 };
  }

  /** Counts an entry that the earlier replay settled without delivering it. */
  carry(outcome: 'failed' | 'invalid' | 'filtered'): void {
    this.close(this.open(), outcome);
    if (outcome === 'failed') this.#failedBefore++;
  }

  /** Counts an entry that is skipped because the earlier replay delivered or queued it. */
  skipTaken(outcome: TakenOutcome): void {
    this.#skipped++;
    if (this.#resumed !== undefined) this.#resumed[outcome]++;
  }

  /** Counts a selected entry as open, and returns the number to pass to `close`. */
  open(): number {
    return ++this.#read;
  }

  /** Closes an entry. `ms` is the duration of its attempts, if there were any. Throws RangeError if the entry is not open. */
  close(number: number, outcome: LedgerOutcome, ms?: number): void {
    const isOpen = number >= 1 && number <= this.#read && !this.#closedNumbers.has(number);
    if (!isOpen) throw new RangeError(`Expected entry ${number} of the ledger to be open`);
    this.#closedNumbers.add(number);
    this.#closed[outcome]++;
    if (ms !== undefined) this.#latency.add(ms);
    if (outcome === 'unsent') this.#firstUnsent = Math.min(this.#firstUnsent ?? number, number);
  }

  /** Number of entries that the replay has skipped or closed. */
  get done(): number {
    return this.#skipped + this.#closedCount;
  }

  get #closedCount(): number {
    return OUTCOMES.reduce((sum, outcome) => sum + this.#closed[outcome], 0);
  }

  /** Records that all inputs were read to their end. */
  readToEnd(): void {
    this.#offset = undefined;
  }

  summary(): ReplaySummary {
    const { delivered, failed, queued, unsent } = this.#closed;
    const offset = this.#offset;
    const open = this.#read - this.#closedCount;
    const ms = Math.round(this.#clock.now() - this.#startedAt);
    const sent = delivered + failed - this.#failedBefore + queued;
    return {
      read: this.#read,
      ...this.#closed,
      unsent: unsent + open,
      skipped: this.#skipped,
      ms,
      perSecond: Math.round((sent * 10_000) / Math.max(ms, 1)) / 10,
      latencyMs: this.#latency.percentiles(),
      ...(this.#resumed !== undefined && { resumed: { ...this.#resumed } }),
      ...(offset !== undefined && { unreadFrom: offset + this.#read }),
      ...(offset !== undefined && { unsentFrom: offset + (this.#firstUnsent ?? this.#read + 1) - 1 }),
    };
  }
}

/**
 * Whether every entry was delivered, queued or filtered, and at least one was delivered or queued. Includes the entries of
 * the interrupted replay that this one resumes.
 */
export function isAllTaken({ read, delivered, queued, filtered, resumed }: ReplaySummary): boolean {
  const before = (resumed?.delivered ?? 0) + (resumed?.queued ?? 0);
  const taken = delivered + queued + before;
  return taken > 0 && taken + filtered === read + before;
}

/** Ratio of neighboring buckets. They differ by 2 %, so a value is at most 1 % from the middle of its bucket. */
const STEP = 1.02;
const LOG_STEP = Math.log(STEP);
const SMALLEST_MS = 0.001;
/** Number of buckets: enough for durations up to 34 hours. Longer durations count as 34 hours. */
const BUCKETS = 1 + Math.ceil(Math.log(124e6 / SMALLEST_MS) / LOG_STEP);

interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Collects durations in constant memory, for percentiles within 1 % of the exact ones. */
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

  /** Percentiles in ms, rounded to microseconds; null if no duration was added. */
  percentiles(): Percentiles {
    return { p50: this.#percentile(0.5), p95: this.#percentile(0.95), p99: this.#percentile(0.99) };
  }

  /**
   * The nearest-rank percentile: the smallest duration that at least this share of all durations do not exceed. Null
   * without durations.
   */
  #percentile(share: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.ceil(share * this.#count);
    const index = this.#counts.findIndex((count) => (left -= count) <= 0);
    const middle = SMALLEST_MS * STEP ** index;
    return Math.round(Math.min(Math.max(middle, this.#smallest), this.#largest) * 1_000) / 1_000;
  }
}
