import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { elapsedMs } from '../../../../clock.ts';
import { ConnectionBudget, type ConnectionVerdict } from '../../../../replay/load/connection-budget.ts';
import type { LoadCurve } from '../../../../replay/load/load-curve.ts';
import type { LoadRecorder } from '../../../../replay/load/load-recorder.ts';

/** How a message that was sent ended. */
export interface LoadOutcome {
  readonly isAcknowledged: boolean;
  /** Whether an interruption ended the message, so that its outcome is unknown. */
  readonly isUnsent: boolean;
  /** Time from when the message was sent to its last response. */
  readonly ms: number;
  /** Time of its last request. */
  readonly serviceMs: number;
}

interface OpenLoopOptions<Message> {
  readonly curve: LoadCurve;
  /** Maximum number of messages in flight. */
  readonly slots: number;
  /** Returns the next message; undefined if none is ready yet, or none is left. */
  readonly next: () => Message | undefined;
  readonly isEnded: () => boolean;
  /** Sends a message at once. Does not reject. */
  readonly send: (message: Message) => Promise<LoadOutcome>;
  readonly recorder: LoadRecorder;
  /** Called at least ten times a second. */
  readonly onTick: (now: number) => void;
  /** Ends the sending. Messages in flight still settle. */
  readonly signal: AbortSignal;
}

const LONGEST_WAIT_MS = 100;
/** Time over which the share of idle time is measured. */
const SAMPLE_MS = 50;
/** Time after the end in which messages that are due are still sent. */
const OVERTIME_MS = 1_000;
/** Number of messages to send before other events get a turn: a few ms. */
const TURN = 100;

/**
 * Sends each message when it is due, however many earlier ones have no response. A timer for each millisecond sends all that
 * are due. Times are ms since the start.
 */
export class OpenLoop<Message> {
  readonly #options: OpenLoopOptions<Message>;
  readonly #startedAt = elapsedMs();
  #sent = 0;
  #inFlight = 0;
  readonly #budget: ConnectionBudget;
  /** The reason why a message that is due is not sent. */
  #waiting: ConnectionVerdict = 'send';
  #sampledAt = 0;
  #sample: EventLoopUtilization = performance.eventLoopUtilization();
  /** When the last wait for the receiver ended. */
  #freeAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isYielding = false;
  /** When the last message was due, or the sending ended before. Undefined until then. */
  #sentMs: number | undefined;
  #finish: (() => void) | undefined;

  constructor(options: OpenLoopOptions<Message>) {
    this.#options = options;
    this.#budget = new ConnectionBudget(options.slots);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get now(): number {
    return elapsedMs() - this.#startedAt;
  }

  /** Sends all messages, and waits for the responses. Resolves to the time for which messages were due. */
  async run(): Promise<number> {
    const { signal } = this.#options;
    const stop = (): void => this.#end();
    signal.addEventListener('abort', stop);
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    this.#tick();
    await finished;
    clearTimeout(this.#timer);
    signal.removeEventListener('abort', stop);
    return this.#sentMs ?? this.now;
  }

  /** Sends what is due now, because a message or a connection is ready that was not before. */
  wake(): void {
    if (!this.#isYielding && this.#sentMs === undefined) this.#turn();
  }

  #tick(): void {
    clearTimeout(this.#timer);
    const now = this.now;
    if (this.#options.signal.aborted) this.#end();
    this.#options.onTick(now);
    this.#measureLoop(now);
    this.#isYielding = false;
    if (this.#sentMs === undefined) this.#turn();
    if (this.#isYielding) return;
    const left = (this.#dueAt() ?? this.#options.curve.durationMs) - this.now;
    const waitMs = this.#sentMs === undefined ? left : LONGEST_WAIT_MS;
    this.#timer = setTimeout(() => this.#tick(), Math.min(LONGEST_WAIT_MS, Math.max(1, Math.floor(waitMs))));
  }

  #measureLoop(now: number): void {
    if (now - this.#sampledAt < SAMPLE_MS) return;
    const current = performance.eventLoopUtilization();
    this.#budget.measured(1 - performance.eventLoopUtilization(current, this.#sample).utilization);
    this.#sample = current;
    this.#sampledAt = now;
  }

  /** Sends what is due. Lets other events have a turn before the rest, if that takes long. */
  #turn(): void {
    this.#isYielding = this.#sendDue(this.now);
    if (!this.#isYielding) return;
    clearTimeout(this.#timer);
    setImmediate(() => this.#tick());
  }

  /** Returns when the next message is due. Undefined after the last one. */
  #dueAt(): number | undefined {
    const { curve } = this.#options;
    if (this.#sent >= curve.count) return undefined;
    const dueAt = curve.dueAt(this.#sent);
    return dueAt < curve.durationMs ? dueAt : undefined;
  }

  /** Sends the messages that are due. Returns whether some are left for the next turn. */
  #sendDue(now: number): boolean {
    for (let count = 0; count < TURN; count++) {
      const dueAt = this.#dueAt();
      if (dueAt === undefined) {
        if (now >= this.#options.curve.durationMs) this.#end();
        return false;
      }
      if (now >= this.#options.curve.durationMs + OVERTIME_MS) {
        this.#giveUp(now);
        return false;
      }
      if (dueAt > now || !this.#hasConnection(now)) return false;
      const message = this.#options.next();
      if (message === undefined) {
        if (this.#options.isEnded()) this.#end();
        return false;
      }
      this.#send(message, dueAt);
    }
    return true;
  }

  #hasConnection(now: number): boolean {
    const verdict = this.#budget.take(this.#inFlight, now);
    if (this.#waiting === 'wait-for-receiver' && verdict !== this.#waiting) this.#freeAt = now;
    this.#waiting = verdict;
    return verdict === 'send';
  }

  #send(message: Message, dueAt: number): void {
    const { send, recorder } = this.#options;
    this.#sent++;
    this.#inFlight++;
    const sentAt = this.now;
    recorder.sent({ dueAt, behindMs: sentAt - Math.max(dueAt, this.#freeAt) }, sentAt);
    void send(message).then((outcome) => this.#settled(outcome, { dueAt, sentAt }));
  }

  #settled(outcome: LoadOutcome, { dueAt, sentAt }: { dueAt: number; sentAt: number }): void {
    this.#inFlight--;
    this.#budget.settled(this.now);
    const { isAcknowledged, isUnsent, ms, serviceMs } = outcome;
    const latencyMs = sentAt - dueAt + ms;
    if (!isUnsent) this.#options.recorder.settled({ dueAt, isAcknowledged, latencyMs, serviceMs }, this.now);
    if (this.#waiting !== 'send') this.wake();
    this.#finishIfEmpty();
  }

  /** Ends the sending without the messages that are left. They are errors, and have waited until now. */
  #giveUp(now: number): void {
    for (let dueAt = this.#dueAt(); dueAt !== undefined; dueAt = this.#dueAt()) {
      const behindMs = this.#waiting === 'wait-for-receiver' ? 0 : now - Math.max(dueAt, this.#freeAt);
      this.#options.recorder.notSent({ dueAt, behindMs }, now);
      this.#sent++;
    }
    this.#end();
  }

  #end(): void {
    this.#sentMs ??= Math.min(this.now, this.#options.curve.durationMs);
    this.#finishIfEmpty();
  }

  #finishIfEmpty(): void {
    if (this.#sentMs !== undefined && this.#inFlight === 0) this.#finish?.();
  }
}
