import { LatencyHistogram, type LatencyMs } from './latency-histogram.ts';
import { evaluate, isTimed, type LoadFigures, type Objective } from './objectives.ts';

/** The figures of one second of a load, as `-o json` prints them. */
export interface LoadSecond {
  /** Number of the second after the warm-up, from 1. */
  readonly second: number;
  /** Messages sent in the second. */
  readonly sent: number;
  /** Messages acknowledged in the second. */
  readonly rate: number;
  /** Longest time in ms from when a message could be sent until it was. */
  readonly behindMs: number;
  /** Times of the messages acknowledged in the second, from when they were due. */
  readonly latencyMs: LatencyMs;
  /** Times of their requests. */
  readonly serviceMs: LatencyMs;
  readonly errors: number;
}

/**
 * Kinds of events. A message that is `sent` ends as `acknowledged`, `failed`, `timed-out` or, by an interruption, `unsent`. Before
 * that it can be `failing`, when a request failed that is to be sent again, and `retried`, when it is. The message of
 * `not-sent` was due and could not be sent until the end. This and `timed-out` are errors that have waited, so that their
 * wait is a latency.
 */
export const LOAD_EVENTS = [
  'sent',
  'acknowledged',
  'failed',
  'timed-out',
  'unsent',
  'failing',
  'retried',
  'not-sent',
] as const;

/** An event of a message. Times are ms since the start of the load. */
export interface LoadEvent {
  readonly kind: (typeof LOAD_EVENTS)[number];
  readonly at: number;
  readonly dueAt: number;
  /**
   * Time since the message was due, for one that has ended. Otherwise the delay of the sender: the time since the
   * message was due and had a connection.
   */
  readonly ms: number;
  /** Time of the last request. */
  readonly serviceMs: number;
}

interface LoadRecorderOptions {
  readonly objectives: readonly Objective[];
  /** Time at the start whose messages are not counted. */
  readonly warmupMs: number;
  /** Time after it for which messages are due, unless the load ends before. */
  readonly durationMs: number;
  readonly onSecond: (second: LoadSecond, inFlight: number) => void;
}

const COUNT_OF = {
  sent: 'sent',
  acknowledged: 'acknowledged',
  failed: 'errors',
  'timed-out': 'errors',
  'not-sent': 'errors',
  unsent: 'unsent',
  retried: 'retries',
} as const satisfies Readonly<Record<Exclude<LoadEvent['kind'], 'failing'>, string>>;

/** Counts of messages, and the histograms of their times. */
class LoadTally {
  readonly counts = { sent: 0, acknowledged: 0, errors: 0, notSent: 0, unsent: 0, retries: 0 };
  readonly latency = new LatencyHistogram();
  readonly service = new LatencyHistogram();
  readonly behind = new LatencyHistogram();

  add({ kind, at, dueAt, ms, serviceMs }: LoadEvent): void {
    const { counts } = this;
    if (kind === 'failing') return;
    if (kind === 'not-sent') counts.notSent++;
    counts[COUNT_OF[kind]]++;
    if (kind === 'sent' || kind === 'not-sent') this.behind.add(ms);
    if (kind === 'not-sent') this.latency.add(at - dueAt);
    if (kind !== 'acknowledged' && kind !== 'timed-out') return;
    this.latency.add(ms);
    this.service.add(serviceMs);
  }

  /** Adds the figures of another tally, and clears it. */
  drain({ counts, latency, service, behind }: LoadTally): void {
    this.latency.drain(latency);
    this.service.drain(service);
    this.behind.drain(behind);
    for (const name of ['sent', 'acknowledged', 'errors', 'notSent', 'unsent', 'retries'] as const) {
      this.counts[name] += counts[name];
      counts[name] = 0;
    }
  }

  figures(ms: number): LoadFigures {
    const { acknowledged, errors } = this.counts;
    const rate = ms > 0 ? (acknowledged * 1_000) / ms : 0;
    return { latencyMs: (percent) => this.latency.percentileMs(percent), acknowledged, errors, rate };
  }
}

const SECOND_MS = 1_000;

/** Records a load second by second in memory that does not grow with its length. */
export class LoadRecorder {
  readonly total = new LoadTally();
  /** The seconds in which the objectives broke first. */
  readonly firstBroken = new Map<Objective, number>();
  readonly #options: LoadRecorderOptions;
  /** The seconds that are not over for all senders. The first follows `#ended`. */
  readonly #open: LoadTally[] = [];
  readonly #unused: LoadTally[] = [];
  #ended = 0;
  #inFlight = 0;
  #firstAckAt = Infinity;
  #lastAckAt = -Infinity;
  /** Number of messages acknowledged later than the time for which messages are due, counted from the first response. */
  #late = 0;
  #errorsSince: number | undefined;

  constructor(options: LoadRecorderOptions) {
    this.#options = options;
  }

  /** Records an event. Those of several senders can come in any order until `advance` has passed their time. */
  add(event: LoadEvent): void {
    const { kind, at, dueAt } = event;
    if (kind === 'sent') this.#inFlight++;
    else if (kind !== 'not-sent') this.#responded(kind, at);
    if (dueAt < this.#options.warmupMs) return;
    this.#tallyAt(at).add(event);
    if (kind !== 'acknowledged') return;
    this.#firstAckAt = Math.min(this.#firstAckAt, at);
    this.#lastAckAt = Math.max(this.#lastAckAt, at);
    if (at > this.#firstAckAt + this.#options.durationMs) this.#late++;
  }

  /** Ends the seconds that were over at a time. */
  advance(now: number): void {
    while (now >= this.#options.warmupMs + (this.#ended + 1) * SECOND_MS) this.#endSecond({ isWhole: true });
  }

  /** Ends the last second, which can be shorter. */
  finish(now: number): void {
    this.advance(now);
    while (this.#open.length > 0) this.#endSecond({ isWhole: false });
  }

  /** Time for which every result was an error. 0 if the last message was acknowledged. */
  errorsAloneMs(now: number): number {
    return this.#errorsSince === undefined ? 0 : now - this.#errorsSince;
  }

  /** Returns the figures of all counted messages. `sentMs` is the time for which messages were due. */
  figures(sentMs: number): LoadFigures {
    // The rate is that of the responses in as long a time as messages were due. A receiver that falls behind gives the rest of
    // its responses later, which lowers the rate. The first response takes as long as the last, so the time begins with it.
    const isWhole = sentMs >= Math.floor(this.#options.durationMs);
    if (!isWhole) return this.total.figures(Math.max(sentMs, this.#lastAckAt - this.#firstAckAt));
    const figures = this.total.figures(sentMs);
    return { ...figures, rate: sentMs > 0 ? ((figures.acknowledged - this.#late) * 1_000) / sentMs : 0 };
  }

  #responded(kind: LoadEvent['kind'], at: number): void {
    if (kind === 'retried') return;
    if (kind !== 'failing') this.#inFlight--;
    if (kind === 'acknowledged') this.#errorsSince = undefined;
    else if (kind !== 'unsent') this.#errorsSince ??= at;
  }

  #tallyAt(at: number): LoadTally {
    const index = Math.floor((at - this.#options.warmupMs) / SECOND_MS) - this.#ended;
    let tally = this.#open[Math.max(0, index)];
    while (tally === undefined) {
      this.#open.push(this.#unused.pop() ?? new LoadTally());
      tally = this.#open[Math.max(0, index)];
    }
    return tally;
  }

  #endSecond({ isWhole }: { readonly isWhole: boolean }): void {
    const tally = this.#open.shift() ?? this.#unused.pop() ?? new LoadTally();
    const second = ++this.#ended;
    const { counts, latency, service, behind } = tally;
    const figures = tally.figures(SECOND_MS);
    for (const objective of this.#options.objectives) {
      // A second without a response shows nothing but the rate. A shorter one, or one after the end, has no rate.
      const hasRate = isWhole && second * SECOND_MS <= this.#options.durationMs;
      const isShown = objective.metric === 'rate' ? hasRate : counts.acknowledged + counts.errors > 0;
      if (!isTimed(objective) || !isShown || this.firstBroken.has(objective)) continue;
      if (!evaluate(objective, figures).held) this.firstBroken.set(objective, second);
    }
    const line = {
      second,
      sent: counts.sent,
      rate: counts.acknowledged,
      behindMs: behind.percentileMs(100) ?? 0,
      latencyMs: latency.percentilesMs(),
      serviceMs: service.percentilesMs(),
      errors: counts.errors,
    };
    this.#options.onSecond(line, this.#inFlight);
    this.total.drain(tally);
    this.#unused.push(tally);
  }
}
