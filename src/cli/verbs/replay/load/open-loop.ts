import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { elapsedMs } from '../../../../clock.ts';
import {
  ConnectionBudget,
  type ConnectionSlots,
  type ConnectionVerdict,
} from '../../../../replay/load/connection-budget.ts';
import type { LoadEvent } from '../../../../replay/load/load-recorder.ts';

/** The outcome of a message that was sent. Times are in ms. */
export interface LoadOutcome {
  /**
   * `unsent`: an interruption aborted the last request, so the outcome is unknown. `not-sent`: `start` returned false, so
   * there was no request.
   */
  readonly kind: 'acknowledged' | 'failed' | 'timed-out' | 'unsent' | 'not-sent';
  /** Time from the call of `send` to the end of the last request. */
  readonly ms: number;
  /** Duration of the last request alone: a message that is retried has several. */
  readonly serviceMs: number;
}

interface OpenLoopOptions<Message> {
  /** Yields the due time of each message, in ascending order. */
  readonly dueTimes: Iterator<number, void>;
  readonly durationMs: number;
  /** Start of the load on the clock of `elapsedMs`. */
  readonly startAt: number;
  /** Limits the number of messages in flight. */
  readonly slots: ConnectionSlots;
  /** Returns the next message; undefined if none is ready yet, or none is left. */
  readonly next: () => Message | undefined;
  readonly isEnded: () => boolean;
  /**
   * Sends a message and returns its outcome. Must not reject. Must call `start` before the first request, which may only be
   * made if `start` returns true: a message that waited for others can be too late.
   */
  readonly send: (message: Message, dueAt: number, start: () => boolean) => Promise<LoadOutcome>;
  /** Starts a waiting retry in place of the message that is due. Returns false if no retry is waiting. */
  readonly retry: () => boolean;
  /** Called once, when sending has ended. Retries can still follow. */
  readonly onEnd: () => void;
  readonly onEvent: (event: LoadEvent) => void;
  /** Called at least ten times a second. */
  readonly onTick: (now: number) => void;
  /** Stops sending. Messages in flight still settle. */
  readonly signal: AbortSignal;
}

const LONGEST_WAIT_MS = 100;
/** Period over which the idle time of the event loop is measured. */
const SAMPLE_MS = 50;
/** Time after the end of the load during which overdue messages are still sent. */
const OVERTIME_MS = 1_000;
/** Maximum number of messages to send before yielding to the event loop. Sending them takes a few ms. */
const TURN = 100;

/**
 * Sends messages at their due times. Does not wait for earlier responses, unless no connection is free. A timer fires
 * at most once per millisecond and sends all messages that are due. Times are in ms since `startAt`.
 */
export class OpenLoop<Message> {
  readonly #options: OpenLoopOptions<Message>;
  readonly #budget: ConnectionBudget;
  /** When the next message is due. Undefined after the last one. */
  #dueAt: number | undefined;
  #inFlight = 0;
  /** Why the next message waits; `send` if it does not wait. */
  #waiting: ConnectionVerdict = 'send';
  /** When the current wait began. */
  #waitingSince = 0;
  /** Time for which the next message has waited for the receiver, without the current wait. */
  #waitedMs = 0;
  /** When the last message was sent, and when it would have been sent if none had waited for the receiver. */
  #sentAt = 0;
  #sendableAt = 0;
  #sampledAt = 0;
  #sample: EventLoopUtilization = performance.eventLoopUtilization();
  #timer: NodeJS.Timeout | undefined;
  #isYielding = false;
  /** Time from the start until sending ended, without the overtime. Undefined while sending. */
  #sentMs: number | undefined;
  #finish: (() => void) | undefined;

  constructor(options: OpenLoopOptions<Message>) {
    this.#options = options;
    this.#budget = new ConnectionBudget(options.slots);
    this.#dueAt = this.#nextDue();
  }

  get now(): number {
    return elapsedMs() - this.#options.startAt;
  }

  /** Sends the messages, and waits for the responses. Resolves to the time during which messages were due, in ms. */
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

  /** Sends due messages at once. Called when a message or a connection becomes available. */
  wake(): void {
    if (!this.#isYielding && this.#sentMs === undefined) this.#turn();
  }

  #nextDue(): number | undefined {
    const { value } = this.#options.dueTimes.next();
    return value ?? undefined;
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
    const left = (this.#dueAt ?? this.#options.durationMs) - this.now;
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

  /** Sends due messages. If there are many, yields to the event loop before sending the rest. */
  #turn(): void {
    this.#isYielding = this.#sendDue(this.now);
    if (!this.#isYielding) return;
    clearTimeout(this.#timer);
    setImmediate(() => this.#tick());
  }

  /** Sends at most TURN due messages, or retries in their place. Returns whether more may be due. */
  #sendDue(now: number): boolean {
    const { durationMs, next, isEnded, retry } = this.#options;
    for (let count = 0; count < TURN; count++) {
      const dueAt = this.#dueAt;
      const isOver = now >= durationMs + (dueAt === undefined ? 0 : OVERTIME_MS);
      if (isOver) this.#giveUp(now);
      if (isOver || dueAt === undefined || dueAt > now) return false;
      if (retry()) {
        this.#dueAt = this.#nextDue();
        continue;
      }
      if (!this.#hasConnection(now)) return false;
      const message = next();
      if (message !== undefined) this.#send(message, dueAt);
      else {
        if (isEnded()) this.#end();
        return false;
      }
    }
    return true;
  }

  #hasConnection(now: number): boolean {
    const verdict = this.#budget.take(this.#inFlight, now);
    if (verdict !== this.#waiting) {
      this.#endWait(now);
      this.#waiting = verdict;
    }
    return verdict === 'send';
  }

  #endWait(now: number): void {
    if (this.#waiting === 'wait-for-receiver') this.#waitedMs += now - this.#waitingSince;
    this.#waitingSince = now;
  }

  /** Returns how late the next message would be at `now` if no message had waited for the receiver. */
  #behindMs(dueAt: number, now: number): number {
    const ownMs = Math.max(0, now - Math.max(dueAt, this.#sentAt) - this.#waitedMs);
    this.#sendableAt = Math.max(dueAt, this.#sendableAt) + ownMs;
    [this.#sentAt, this.#waitedMs] = [now, 0];
    return this.#sendableAt - dueAt;
  }

  #send(message: Message, dueAt: number): void {
    const { send, onEvent, signal, durationMs } = this.#options;
    this.#dueAt = this.#nextDue();
    this.#inFlight++;
    const calledAt = this.now;
    const behindMs = this.#behindMs(dueAt, calledAt);
    const start = (): boolean => {
      const at = this.now;
      if (signal.aborted || at >= durationMs + OVERTIME_MS) return false;
      onEvent({ kind: 'sent', at, dueAt, ms: behindMs, serviceMs: 0 });
      return true;
    };
    const waitedMs = ({ kind, ms }: LoadOutcome): number =>
      kind === 'not-sent' ? behindMs : calledAt - dueAt + ms;
    void send(message, dueAt, start).then((outcome) =>
      this.#settled({ ...outcome, at: this.now, dueAt, ms: waitedMs(outcome) }),
    );
  }

  #settled(event: LoadEvent): void {
    this.#inFlight--;
    this.#budget.settled(event.at);
    // An interruption leaves messages that have not started uncounted, as those that are not due yet.
    if (event.kind !== 'not-sent' || !this.#options.signal.aborted) this.#options.onEvent(event);
    if (this.#waiting !== 'send') this.wake();
    this.#finishIfEmpty();
  }

  /** Ends sending, and reports each remaining message as `not-sent`. */
  #giveUp(now: number): void {
    this.#endWait(now);
    for (; this.#dueAt !== undefined; this.#dueAt = this.#nextDue()) {
      const dueAt = this.#dueAt;
      const ms = this.#behindMs(dueAt, now);
      this.#options.onEvent({ kind: 'not-sent', at: now, dueAt, ms, serviceMs: 0 });
    }
    this.#end();
  }

  #end(): void {
    if (this.#sentMs === undefined) {
      this.#sentMs = Math.max(0, Math.min(this.now, this.#options.durationMs));
      this.#options.onEnd();
    }
    this.#finishIfEmpty();
  }

  #finishIfEmpty(): void {
    if (this.#sentMs !== undefined && this.#inFlight === 0) this.#finish?.();
  }
}
