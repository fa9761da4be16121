import { LatencyHistogram, type LatencyMs } from './latency-histogram.ts';
import { evaluate, isTimed, type LoadFigures, type Objective } from './objectives.ts';
import { SustainedRate } from './sustained-rate.ts';

/** The metrics of one second of a load test, as `-o json` prints them. */
export interface LoadSecond {
  /** Number of the second after the warm-up, from 1. */
  readonly second: number;
  readonly sent: number;
  /** Number of messages acknowledged in the second. */
  readonly rate: number;
  /** Longest delay caused by the sender, in ms: from when a message could be sent until it was sent or given up. */
  readonly behindMs: number;
  /** Latencies, from the due time, of the messages that were acknowledged, timed out or given up in the second. */
  readonly latencyMs: LatencyMs;
  /** Durations of the last requests of messages that were acknowledged or timed out, without the wait before them. */
  readonly serviceMs: LatencyMs;
  readonly errors: number;
}

/**
 * Kinds of events of a message. `sent` is followed by `acknowledged`, `failed`, `timed-out` or, if the load is interrupted,
 * `unsent`. In between, `failing` reports a failed request that will be retried, and `retried` the start of its retry.
 * `not-sent` is the only event of a message that was due but could not be sent before the load ended. The latency includes
 * `timed-out` and `not-sent` messages, because they waited, but not `failed` messages.
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

/** An event of a message. `at` and `dueAt` are in ms since the start of the load, or of its step with `--load max`. */
export interface LoadEvent {
  readonly kind: (typeof LOAD_EVENTS)[number];
  readonly at: number;
  readonly dueAt: number;
  /**
   * For `sent` and `not-sent`: the delay caused by the sender, which is how late the message would be if no message had
   * waited for the receiver. For `failing` and `retried`: 0. For other kinds: the time from when the message was due to the end of its
   * last request.
   */
  readonly ms: number;
  /** Duration of the message's last request. 0 for `sent`, `not-sent`, `failing` and `retried`. */
  readonly serviceMs: number;
}

interface LoadRecorderOptions {
  readonly objectives: readonly Objective[];
  /** Duration of the warm-up. Messages that are due during the warm-up are not counted. */
  readonly warmupMs: number;
  /** Planned duration of the load after the warm-up. The load can end earlier. */
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

/** Counts the events of messages, and collects durations in histograms. */
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

  /** Moves all counts and durations of another tally into this one. */
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
    const rate = (acknowledged * 1_000) / ms;
    return { latencyMs: (percent) => this.latency.percentileMs(percent), acknowledged, errors, rate };
  }
}

const SECOND_MS = 1_000;

/** Records the events of a load second by second, in memory that does not grow with the length of the load. */
export class LoadRecorder {
  readonly total = new LoadTally();
  /** Maps each objective that was broken in some second to the first such second, from 1. */
  readonly firstBroken = new Map<Objective, number>();
  readonly #options: LoadRecorderOptions;
  /** Tallies of the seconds that have not ended for all senders. The first one belongs to second `#ended + 1`. */
  readonly #open: LoadTally[] = [];
  readonly #unused: LoadTally[] = [];
  #ended = 0;
  #inFlight = 0;
  /** Maximum number of messages that were in flight at once, including those of the warm-up. */
  peakInFlight = 0;
  /** Number of messages that could not be sent, and that waited mostly for the sender itself. */
  heldBack = 0;
  readonly #rate: SustainedRate;
  #errorsSince: number | undefined;

  constructor(options: LoadRecorderOptions) {
    this.#options = options;
    this.#rate = new SustainedRate(options.durationMs);
  }

  /** Records an event. Events can come in any order, but each must come before `advance` is called with a later time. */
  add(event: LoadEvent): void {
    const { kind, at, dueAt } = event;
    if (kind === 'sent') this.peakInFlight = Math.max(this.peakInFlight, ++this.#inFlight);
    else if (kind !== 'not-sent') this.#responded(kind, at);
    if (dueAt < this.#options.warmupMs) return;
    this.#tallyAt(at).add(event);
    if (kind === 'acknowledged') this.#rate.add(at);
    if (kind === 'not-sent' && event.ms > (at - dueAt) / 2) this.heldBack++;
  }

  /** Closes the seconds that have ended by `now`. */
  advance(now: number): void {
    while (now >= this.#options.warmupMs + (this.#ended + 1) * SECOND_MS) this.#endSecond({ isWhole: true });
  }

  /** Closes the remaining seconds. The last one can be incomplete. */
  finish(now: number): void {
    this.advance(now);
    while (this.#open.length > 0) this.#endSecond({ isWhole: false });
  }

  /** Returns the ms since the first failed request after the last acknowledgment. 0 if no request has failed since. */
  errorsAloneMs(now: number): number {
    return this.#errorsSince === undefined ? 0 : now - this.#errorsSince;
  }

  /** Returns the metrics of all counted messages. `sentMs`: how long messages were due after the warm-up. */
  figures(sentMs: number): LoadFigures {
    return { ...this.total.figures(sentMs), rate: this.#rate.perSecond(sentMs) };
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
      // Evaluates the rate only in whole seconds before the end of the load, and other objectives only in seconds in which
      // messages were acknowledged or counted as errors.
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
