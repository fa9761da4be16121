import { setTimeout as sleep } from 'node:timers/promises';
import { elapsedMs } from '../../../../clock.ts';
import { LoadRecorder, type LoadSecond } from '../../../../replay/load/load-recorder.ts';
import { curveOf } from '../../../../replay/load/load-shape.ts';
import type { EarlyEnd } from '../../../../replay/load/verdict.ts';
import type { Objective } from '../../../../replay/load/objectives.ts';
import { joinReports, type LoadPart, type LoadReport, type LoadSending } from './load-sending.ts';

export interface RecordedPart extends Omit<LoadPart, 'startAt'> {
  readonly objectives: readonly Objective[];
  readonly onSecond: (second: LoadSecond, inFlight: number) => void;
}

export interface LoadPartResult {
  readonly recorder: LoadRecorder;
  /** Number of failures of the part, by error text. */
  readonly failures: LoadReport['failures'];
  /** Time after the warm-up during which messages were due, in ms. */
  readonly sentMs: number;
}

/** Time with nothing but errors after which a load stops, because a load on the wrong host is an attack. */
const ERRORS_ALONE_MS = 30_000;
/** Delay before several threads start a part together. Each thread must receive the part in this time. */
const LEAD_MS = 20;
/** Time after an interruption until the messages in flight are aborted. */
const GRACE_MS = 1_000;

/** Runs the parts of a load, records them, and stops the load when it must end early. */
export class LoadControl {
  /** Why the load ended early. Undefined if it did not. */
  stopped: EarlyEnd | undefined;
  /** Maximum number of messages that were in flight at once. */
  peakInFlight = 0;
  readonly #sendings: readonly LoadSending[];
  readonly #onAcknowledged: (count: number) => void;

  /**
   * @param sendings the senders that share the load
   * @param signal interrupts the load
   * @param onAcknowledged called after each second, with the number of messages that were acknowledged in it
   */
  constructor(
    sendings: readonly LoadSending[],
    signal: AbortSignal,
    onAcknowledged = (_count: number) => {},
  ) {
    this.#sendings = sendings;
    this.#onAcknowledged = onAcknowledged;
    const interrupt = (): void => {
      this.#stop('interrupted');
      void this.#abortLater();
    };
    if (signal.aborted) interrupt();
    else signal.addEventListener('abort', interrupt, { once: true });
  }

  get report(): LoadReport {
    return this.#sendings.map(({ report }) => report).reduce(joinReports);
  }

  /** Sends one part, waits for the responses, and records it. Throws the errors of the senders. */
  async part({ objectives, onSecond: show, ...part }: RecordedPart): Promise<LoadPartResult> {
    const { warmupMs } = part;
    const { durationMs } = curveOf(part.shape, part.forMs);
    const onSecond: RecordedPart['onSecond'] = (second, inFlight) => {
      show(second, inFlight);
      this.#onAcknowledged(second.rate);
    };
    const recorder = new LoadRecorder({ objectives, warmupMs, durationMs, onSecond });
    const add = recorder.add.bind(recorder);
    const startAt = elapsedMs() + (this.#sendings.length > 1 ? LEAD_MS : 0);
    const failuresBefore = this.report.failures;
    const reached = this.#sendings.map(() => -Infinity);
    const times = await Promise.all(
      this.#sendings.map(async (sending, index) => {
        const advance = (now: number): void => {
          reached[index] = now;
          this.#advance(recorder, Math.min(...reached));
        };
        const ended = await sending.part({ ...part, startAt }, { add, advance });
        reached[index] = Infinity;
        return ended;
      }),
    );
    recorder.finish(Math.max(...times.map(({ endedMs }) => endedMs)));
    this.peakInFlight = Math.max(this.peakInFlight, recorder.peakInFlight);
    if (times.some(({ isShort }) => isShort) && this.report.isEnded) this.stopped ??= 'no-messages';
    const sentMs = Math.max(...times.map((each) => each.sentMs));
    const failures = difference(this.report.failures, failuresBefore);
    return { recorder, failures, sentMs: Math.max(0, sentMs - warmupMs) };
  }

  #advance(recorder: LoadRecorder, now: number): void {
    recorder.advance(now);
    if (recorder.errorsAloneMs(now) >= ERRORS_ALONE_MS) this.#stop('errors-alone');
  }

  async #abortLater(): Promise<void> {
    await sleep(GRACE_MS, undefined, { ref: false });
    for (const sending of this.#sendings) sending.abort();
  }

  #stop(why: 'interrupted' | 'errors-alone'): void {
    if (why === 'interrupted' || this.stopped === undefined) this.stopped = why;
    for (const sending of this.#sendings) sending.stop();
  }
}

/** Returns by how much each count has grown. Omits counts that have not grown. */
function difference(after: LoadReport['failures'], before: LoadReport['failures']): LoadReport['failures'] {
  const grown = Object.entries(after).map(([text, count]) => [text, count - (before[text] ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}
