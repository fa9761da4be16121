import type { Sides } from './compared-response.ts';

/** One result of the comparison: all messages, those with one title, or a single one had different latencies. */
export interface LatencyDifference {
  /** Title of the messages, such as `track "Order Completed"`. Undefined if the difference concerns all messages. */
  readonly title: string | undefined;
  /**
   * `median`: the medians differ. `slow`: one receiver was slow more often. `single`: one message was slow each time it
   * was sent.
   */
  readonly kind: 'median' | 'slow' | 'single';
  /** The old receiver's median in ms (`median`), number of slow responses (`slow`) or latency in ms (`single`). */
  readonly old: number;
  /** The same for the new receiver. */
  readonly new: number;
  /** For `slow`: the latency in ms from which a response counts as slow. */
  readonly fromMs?: number;
  /** For `single`: number of messages for which this receiver alone was slow. */
  readonly slow?: number;
  /** Number of messages whose latencies were compared. */
  readonly messages: number;
}

/** Minimum number of messages to compare latencies, because a pause of a busy machine delays several in a row. */
const MIN_MESSAGES = 20;
/**
 * Minimum factor and minimum time in ms (LEAST_MS) by which latencies must differ. Other work of the machine causes
 * smaller differences.
 */
const FACTOR = 3;
const LEAST_MS = 50;
/** Minimum number of slow groups (see SlowGroups) of one receiver if the other had none. Each group of the other adds 4. */
const MIN_SLOW = 12;
/** Difference in ms between the receivers from which a message is sent again, to see whether the difference persists. */
const SINGLE_MS = 150;
/** Maximum number of titles whose medians are kept. */
const MAX_TITLES = 100;

/** Compares the latencies of two receivers. Both get every message, and take turns to get it first. */
export class LatencyComparison {
  readonly #all = new LatencyPair();
  readonly #byTitle = new Map<string, LatencyPair>();
  readonly #slow: Sides<SlowGroups> = { old: new SlowGroups(), new: new SlowGroups() };
  readonly #concurrency: number;
  #confirmed: LatencyDifference | undefined;

  /** @param concurrency maximum number of messages in flight */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Adds the latencies of one message. Returns whether only one receiver was slow: the message must then be sent again. */
  add(title: string, ms: Sides<number>): boolean {
    this.#all.add(ms);
    let pair = this.#byTitle.get(title);
    if (pair === undefined && this.#byTitle.size < MAX_TITLES) {
      pair = new LatencyPair();
      this.#byTitle.set(title, pair);
    }
    pair?.add(ms);
    const side = this.slowSideOf(ms);
    if (side !== undefined) this.#slow[side].alone++;
    const [group, fromMs] = [Math.floor(this.#all.old.count / this.#concurrency), this.#slowFromMs];
    for (const each of ['old', 'new'] as const) if (ms[each] >= fromMs) this.#slow[each].add(group);
    return side !== undefined;
  }

  /**
   * Takes the latencies of a message that was sent again several times, alone in flight. Returns whether the receiver
   * `side` was slow each time, and took at least twice the 99th percentile of the other receiver's latencies.
   */
  confirm(title: string, side: 'old' | 'new', repeats: readonly Sides<number>[]): boolean {
    const least = Math.min(...repeats.map((ms) => ms[side]));
    const usual = this.#all[side === 'old' ? 'new' : 'old'].quantile(0.99);
    const isSlow = repeats.every((ms) => this.slowSideOf(ms) === side) && least >= 2 * usual;
    const [ms] = repeats;
    const [messages, slow] = [this.#all.old.count, this.#slow[side].alone];
    if (isSlow && ms !== undefined) this.#confirmed = { title, kind: 'single', ...ms, slow, messages };
    return this.#confirmed !== undefined;
  }

  /** Returns the receiver that was slow, if the other was much faster. Undefined until MIN_MESSAGES messages are added. */
  slowSideOf({ old, new: new_ }: Sides<number>): 'old' | 'new' | undefined {
    const [fast, slow] = [Math.min(old, new_), Math.max(old, new_)];
    const isSlow = slow >= this.#slowFromMs && slow >= fast + SINGLE_MS && slow >= FACTOR * fast;
    if (!isSlow || this.#all.old.count < MIN_MESSAGES) return undefined;
    return old > new_ ? 'old' : 'new';
  }

  /**
   * Returns the difference between the medians of all messages. If there is none, returns the differences between the
   * medians of each title. If there are none either, returns the difference in slow groups, or the message that is
   * slow each time.
   */
  differences(): readonly LatencyDifference[] {
    const whole = this.#all.difference(undefined);
    if (whole !== undefined) return [whole];
    const found = [...this.#byTitle].map(([title, pair]) => pair.difference(title));
    const ofTitles = found.filter((difference) => difference !== undefined);
    return ofTitles.length > 0 ? ofTitles : this.#slowDifferences();
  }

  /**
   * Compares the numbers of slow groups. A pause of this machine does not matter, because it delays the responses of
   * both receivers. If the numbers are similar, returns the message that `confirm` has found, if any.
   */
  #slowDifferences(): readonly LatencyDifference[] {
    const { old, new: new_ } = this.#slow;
    const [fewer, more] = [old.groups, new_.groups].toSorted((one, other) => one - other);
    if (fewer === undefined || more === undefined || more < MIN_SLOW + 4 * fewer) {
      return this.#confirmed === undefined ? [] : [this.#confirmed];
    }
    const [messages, fromMs] = [this.#all.old.count, this.#slowFromMs];
    return [{ title: undefined, kind: 'slow', old: old.count, new: new_.count, fromMs, messages }];
  }

  get #slowFromMs(): number {
    const median = Math.max(this.#all.old.median, this.#all.new.median);
    return Math.max(FACTOR * median, median + LEAST_MS);
  }
}

class LatencyPair {
  readonly old = new FactorHistogram();
  readonly new = new FactorHistogram();

  add(ms: Sides<number>): void {
    this.old.add(ms.old);
    this.new.add(ms.new);
  }

  difference(title: string | undefined): LatencyDifference | undefined {
    const medians = { old: this.old.median, new: this.new.median };
    const [less, more] = [Math.min(medians.old, medians.new), Math.max(medians.old, medians.new)];
    const isDifferent = more >= FACTOR * less && more - less >= LEAST_MS;
    if (this.old.count < MIN_MESSAGES || !isDifferent) return undefined;
    return { title, kind: 'median', ...medians, messages: this.old.count };
  }
}

/** Counts latencies in a fixed number of buckets, each 5 % wider than the previous one, so that memory is constant. */
class FactorHistogram {
  static readonly #growth = Math.log(1.05);
  readonly #buckets = new Uint32Array(300); // up to 2 million ms
  count = 0;

  add(ms: number): void {
    const bucket = Math.floor(Math.log(1 + ms) / FactorHistogram.#growth);
    const last = this.#buckets.length - 1;
    this.#buckets[Math.min(last, bucket)] = (this.#buckets[Math.min(last, bucket)] ?? 0) + 1;
    this.count++;
  }

  /** The median in ms, rounded down as in `quantile`. */
  get median(): number {
    return this.quantile(0.5);
  }

  /**
   * Returns the latency in ms that this share of all latencies does not exceed. Rounded down, with an error of at most
   * 5 % plus 0.05 ms. 0 without latencies.
   */
  quantile(share: number): number {
    let seen = 0;
    const at = this.#buckets.findIndex((count) => (seen += count) >= share * this.count);
    return Math.exp(at * FactorHistogram.#growth) - 1;
  }
}

/**
 * Counts the slow responses of a receiver, and the groups of successive messages with a slow response. A group has as many
 * messages as are in flight, because a pause of the receiver or of this machine delays these, and so counts at most twice.
 */
class SlowGroups {
  count = 0;
  groups = 0;
  /** Number of messages for which the other receiver was fast. */
  alone = 0;
  #last = -1;

  add(group: number): void {
    this.count++;
    if (group !== this.#last) this.groups++;
    this.#last = group;
  }
}
