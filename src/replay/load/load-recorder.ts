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

/** A message that was sent. Times are ms since the start of the load. */
export interface SentTimes {
  readonly dueAt: number;
  /** Time from when the message was due, and had a connection, until it was sent. */
  readonly behindMs: number;
}

export interface SettledTimes {
  readonly dueAt: number;
  readonly isAcknowledged: boolean;
  readonly latencyMs: number;
  readonly serviceMs: number;
}

interface LoadRecorderOptions {
  readonly objectives: readonly Objective[];
  /** Time at the start whose messages are not counted. */
  readonly warmupMs: number;
  readonly onSecond: (second: LoadSecond) => void;
}

/** Counts of messages, and the histograms of their times. */
class LoadTally {
  readonly latency = new LatencyHistogram();
  readonly service = new LatencyHistogram();
  readonly behind = new LatencyHistogram();
  sent = 0;
  acknowledged = 0;
  errors = 0;
  /** Errors that were never sent. */
  notSent = 0;

  merge(other: LoadTally): void {
    this.latency.merge(other.latency);
    this.service.merge(other.service);
    this.behind.merge(other.behind);
    this.sent += other.sent;
    this.acknowledged += other.acknowledged;
    this.errors += other.errors;
    this.notSent += other.notSent;
  }

  clear(): void {
    for (const histogram of [this.latency, this.service, this.behind]) histogram.clear();
    [this.sent, this.acknowledged, this.errors, this.notSent] = [0, 0, 0, 0];
  }

  figures(ms: number): LoadFigures {
    const { latency, acknowledged, errors } = this;
    return {
      latencyMs: (percent) => latency.percentileMs(percent),
      settled: acknowledged + errors,
      acknowledged,
      errors,
      rate: ms > 0 ? (acknowledged * 1_000) / ms : 0,
    };
  }
}

const SECOND_MS = 1_000;

/** Records a load second by second in constant memory. Each call passes the time since the start, which never goes back. */
export class LoadRecorder {
  readonly total = new LoadTally();
  /** The seconds in which the objectives broke first. */
  readonly firstBroken = new Map<Objective, number>();
  readonly #second = new LoadTally();
  readonly #options: LoadRecorderOptions;
  #index = 0;
  #firstAckAt: number | undefined;
  #lastAckAt = 0;
  #errorsSince: number | undefined;

  constructor(options: LoadRecorderOptions) {
    this.#options = options;
  }

  sent({ dueAt, behindMs }: SentTimes, now: number): void {
    this.advance(now);
    if (dueAt < this.#options.warmupMs) return;
    this.#second.sent++;
    this.#second.behind.add(behindMs);
  }

  settled({ dueAt, isAcknowledged, latencyMs, serviceMs }: SettledTimes, now: number): void {
    this.advance(now);
    this.#errorsSince = isAcknowledged ? undefined : (this.#errorsSince ?? now);
    if (dueAt < this.#options.warmupMs) return;
    if (!isAcknowledged) {
      this.#second.errors++;
      return;
    }
    this.#firstAckAt ??= now;
    this.#lastAckAt = now;
    this.#second.acknowledged++;
    this.#second.latency.add(latencyMs);
    this.#second.service.add(serviceMs);
  }

  /** Records a message that was due and could not be sent until the end: an error that has waited until now. */
  notSent({ dueAt, behindMs }: SentTimes, now: number): void {
    this.advance(now);
    if (dueAt < this.#options.warmupMs) return;
    this.#second.notSent++;
    this.#second.errors++;
    this.#second.behind.add(behindMs);
    this.#second.latency.add(now - dueAt);
  }

  /** Ends the seconds that are over. */
  advance(now: number): void {
    while (now >= this.#startOf(this.#index + 1)) this.#endSecond({ isWhole: true });
  }

  /** Ends the last second, which can be shorter. */
  finish(now: number): void {
    this.advance(now);
    const { sent, acknowledged, errors } = this.#second;
    if (sent + acknowledged + errors > 0) this.#endSecond({ isWhole: false });
  }

  /** Time for which every result was an error. 0 if the last message was acknowledged. */
  errorsAloneMs(now: number): number {
    return this.#errorsSince === undefined ? 0 : now - this.#errorsSince;
  }

  /** Returns the latency of the current second, for the line at a terminal. */
  currentLatency(): Pick<LatencyHistogram, 'percentileMs'> {
    return this.#second.latency;
  }

  /** Returns the figures of all counted messages. `sentMs` is the time for which messages were due. */
  figures(sentMs: number): LoadFigures {
    // A receiver that falls behind acknowledges the rest later, which lowers the rate. The first response takes as long as the
    // last, so this time is not part of it.
    return this.total.figures(Math.max(sentMs, this.#lastAckAt - (this.#firstAckAt ?? 0)));
  }

  #startOf(index: number): number {
    return this.#options.warmupMs + index * SECOND_MS;
  }

  #endSecond({ isWhole }: { readonly isWhole: boolean }): void {
    const tally = this.#second;
    const second = ++this.#index;
    this.total.merge(tally);
    const figures = tally.figures(SECOND_MS);
    for (const objective of this.#options.objectives) {
      // A second without a response shows nothing but the rate, and a shorter one has no rate.
      const isRate = objective.metric.kind === 'rate';
      const isTold = isTimed(objective) && (isRate ? isWhole : figures.settled > 0);
      if (!isTold || this.firstBroken.has(objective)) continue;
      if (!evaluate(objective, figures).held) this.firstBroken.set(objective, second);
    }
    this.#options.onSecond({
      second,
      sent: tally.sent,
      rate: tally.acknowledged,
      behindMs: tally.behind.percentileMs(100) ?? 0,
      latencyMs: tally.latency.percentilesMs(),
      serviceMs: tally.service.percentilesMs(),
      errors: tally.errors,
    });
    tally.clear();
  }
}
