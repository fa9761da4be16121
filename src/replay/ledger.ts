import type { Clock } from '../clock.ts';
import { IndexRanges } from './index-ranges.ts';

export const OUTCOMES = ['delivered', 'failed', 'queued', 'filtered', 'invalid', 'unsent'] as const;

/**
 * The outcome of an entry. `filtered`: its `integrations` exclude every destination. `unsent`: the replay was stopped
 * before the outcome was known.
 */
export type LedgerOutcome = (typeof OUTCOMES)[number];

export interface ReplaySummary extends Readonly<Record<LedgerOutcome, number>> {
  readonly read: number;
  /**
   * Number of entries that `--filter` or `--offset` excluded, or that earlier runs of a resumed replay delivered or queued.
   * Not included in `read`.
   */
  readonly skipped: number;
  /** Duration of this run in ms. Does not include earlier runs of a resumed replay. */
  readonly ms: number;
  /** Messages per second that this run delivered, queued or failed to deliver. With `--load`: only acknowledged ones. */
  readonly perSecond: number;
  /**
   * Percentiles of the time in ms from the start of a message's first attempt to its outcome. With `--load`, the time
   * starts when the message is due. Each percentile is null if there was no such message.
   */
  readonly latencyMs: Percentiles;
  /** Counts from the earlier runs of a resumed replay. Absent if this replay does not resume another one. */
  readonly resumed?: ResumedCounts;
  /**
   * Value of `--offset` with which a new replay starts at the first unread entry. Present only if this replay ended before
   * it had read every selected entry, and cannot be resumed.
   */
  readonly unreadFrom?: number;
  /**
   * Value of `--offset` with which a new replay starts at the first entry that is unsent or unread. Present only if
   * `unreadFrom` is.
   */
  readonly unsentFrom?: number;
}

/**
 * Counts of the entries that earlier runs of a resumed replay delivered or queued. The summary includes them in `skipped`.
 * Entries that an earlier run settled as `failed`, `invalid` or `filtered` count as such in the summary of this run too.
 */
export interface ResumedCounts {
  /** Whether the earlier runs settled every selected entry, so that this run sends nothing. */
  readonly finished: boolean;
  readonly delivered: number;
  readonly queued: number;
}

/** Outcomes of a message that the receiver or the queue has accepted. */
export type TakenOutcome = 'delivered' | 'queued';

/**
 * Counts entries by outcome. Each entry that is read is opened once and closed at most once. An open entry counts as
 * unsent, so always read = delivered + failed + queued + filtered + invalid + unsent.
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
  /** Counts of the entries that earlier runs delivered or queued. Undefined if there are no earlier runs. */
  #resumed: { finished: boolean; delivered: number; queued: number } | undefined;
  #failedBefore = 0;
  #firstUnsent: number | undefined;
  /** Value of `--offset` if the replay cannot be resumed. Undefined if it can be, or once every selected entry is read. */
  #offset: number | undefined;

  /** @param offset the value of `--offset`, only if the replay cannot be resumed: its summary then says where to continue */
  constructor(clock: Clock, offset?: number) {
    this.#offset = offset;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** Counts an entry that `--filter` or `--offset` excludes. */
  skip(): void {
    this.#skipped++;
  }

  /** Marks this run as the continuation of earlier runs of the replay. */
  resume({ isFinished }: { readonly isFinished: boolean }): void {
    this.#resumed = { finished: isFinished, delivered: 0, queued: 0 };
  }

  /** Counts an entry that an earlier run settled with this outcome, so that this run does not send it. */
  carry(outcome: 'failed' | 'invalid' | 'filtered'): void {
    this.close(this.open(), outcome);
    if (outcome === 'failed') this.#failedBefore++;
  }

  /** Counts an entry that is skipped because an earlier run delivered or queued it. */
  skipTaken(outcome: TakenOutcome): void {
    this.#skipped++;
    if (this.#resumed !== undefined) this.#resumed[outcome]++;
  }

  /** Opens a selected entry. Returns its number, which `close` needs. */
  open(): number {
    return ++this.#read;
  }

  /**
   * Closes an entry. `ms` is the time from the start of its first attempt to its outcome, if it was attempted. Throws
   * RangeError if the entry is not open.
   */
  close(number: number, outcome: LedgerOutcome, ms?: number): void {
    const isOpen = number >= 1 && number <= this.#read && !this.#closedNumbers.has(number);
    if (!isOpen) throw new RangeError(`Expected entry ${number} of the ledger to be open`);
    this.#closedNumbers.add(number);
    this.#closed[outcome]++;
    if (ms !== undefined) this.#latency.add(ms);
    if (outcome === 'unsent') this.#firstUnsent = Math.min(this.#firstUnsent ?? number, number);
  }

  /** Number of entries that are skipped or closed. */
  get done(): number {
    return this.#skipped + this.#closedCount;
  }

  get #closedCount(): number {
    return OUTCOMES.reduce((sum, outcome) => sum + this.#closed[outcome], 0);
  }

  /** Records that every selected entry was read, so that the summary has no `unreadFrom` and no `unsentFrom`. */
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
 * Whether every entry was delivered, queued or filtered, and at least one was delivered or queued, by this run or by the
 * earlier runs that it resumes.
 */
export function isAllTaken({ read, delivered, queued, filtered, resumed }: ReplaySummary): boolean {
  const before = (resumed?.delivered ?? 0) + (resumed?.queued ?? 0);
  const taken = delivered + queued + before;
  return taken > 0 && taken + filtered === read + before;
}

/** Ratio between the middles of neighboring buckets. A duration differs by at most 1 % from the middle of its bucket. */
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

/** Collects durations in constant memory, and estimates their percentiles within 1 %. */
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

  /** Returns the percentiles in ms, rounded to microseconds. Each is null if no duration was added. */
  percentiles(): Percentiles {
    return { p50: this.#percentile(0.5), p95: this.#percentile(0.95), p99: this.#percentile(0.99) };
  }

  /**
   * Estimates the nearest-rank percentile in ms: the shortest duration that is at least as long as `share` (0 to 1) of all
   * durations. Null if no duration was added.
   */
  #percentile(share: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.ceil(share * this.#count);
    const index = this.#counts.findIndex((count) => (left -= count) <= 0);
    const middle = SMALLEST_MS * STEP ** index;
    return Math.round(Math.min(Math.max(middle, this.#smallest), this.#largest) * 1_000) / 1_000;
  }
}
