import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadSender } from '../../../../app/load/load-sender.ts';
import { elapsedMs } from '../../../../clock.ts';
import type { AttemptResult } from '../../../../engine/round/attempt-result.ts';
import { nextRoundAt } from '../../../../engine/round/schedule.ts';
import type { LoadCurve } from '../../../../replay/load/load-curve.ts';
import { LoadRecorder, type LoadSecond } from '../../../../replay/load/load-recorder.ts';
import type { Objective } from '../../../../replay/load/objectives.ts';
import { attemptText } from '../../../attempt-text.ts';
import type { KeyedMessage, LoadMessages } from './load-messages.ts';
import { OpenLoop, type LoadOutcome } from './open-loop.ts';

/** The figures of the line at a terminal. */
export interface LoadMoment {
  readonly now: number;
  readonly rate: number;
  readonly inFlight: number;
  readonly recorder: LoadRecorder;
}

export interface LoadRunOptions {
  readonly sender: LoadSender;
  readonly messages: LoadMessages;
  readonly slots: number;
  /** Time to retry a failed message. 0 for one attempt. */
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  readonly onTick: (moment: LoadMoment) => void;
}

export interface LoadPart {
  readonly curve: LoadCurve;
  readonly warmupMs: number;
  readonly objectives: readonly Objective[];
  readonly onSecond: (second: LoadSecond) => void;
}

export interface LoadPartResult {
  readonly recorder: LoadRecorder;
  /** Time after the warm-up for which messages were due. */
  readonly sentMs: number;
}

/** Time of errors alone after which a load stops: load against a stranger is an attack. */
const ERRORS_ALONE_MS = 30_000;
/** Time that messages in flight get after an interruption. */
const GRACE_MS = 1_000;
/** Maximum number of kinds of failures to count. */
const MAX_KINDS = 20;

/** One load: its parts one after the other, over the same connections. */
export class LoadRun {
  readonly counts = { delivered: 0, failed: 0, unsent: 0, reconnected: 0 };
  /** The number of failures by their text. */
  readonly failures = new Map<string, number>();
  readonly #options: LoadRunOptions;
  readonly #order = new KeyOrder();
  readonly #errorsAlone = new AbortController();
  readonly #stop: AbortSignal;
  #error: unknown;

  constructor(options: LoadRunOptions) {
    this.#options = options;
    this.#stop = AbortSignal.any([options.signal, this.#errorsAlone.signal]);
    const abort = (): void => void sleep(GRACE_MS, undefined, { ref: false }).then(options.sender.abort);
    options.signal.addEventListener('abort', abort, { once: true });
  }

  /** Whether the load was stopped because only errors came. */
  get isStopped(): boolean {
    return this.#errorsAlone.signal.aborted;
  }

  get isEnded(): boolean {
    return this.#stop.aborted || this.#options.messages.isEnded;
  }

  /** Sends one curve and waits for the responses. Throws the error of an unreadable input or an unusable request. */
  async part({ curve, warmupMs, objectives, onSecond }: LoadPart): Promise<LoadPartResult> {
    const { messages, slots, onTick } = this.#options;
    const recorder = new LoadRecorder({ objectives, warmupMs, onSecond });
    const loop: OpenLoop<KeyedMessage> = new OpenLoop<KeyedMessage>({
      curve,
      slots,
      signal: this.#stop,
      next: () => this.#next(),
      isEnded: () => this.#error !== undefined || messages.isEnded,
      send: (message) => {
        const began = elapsedMs();
        return this.#order.run(message.orderKeys, () => this.#send(message, began));
      },
      recorder,
      onTick: (now) => {
        recorder.advance(now);
        if (recorder.errorsAloneMs(now) >= ERRORS_ALONE_MS) this.#errorsAlone.abort();
        onTick({ now, rate: curve.rateAt(now), inFlight: loop.inFlight, recorder });
      },
    });
    messages.onReady = () => loop.wake();
    const sentMs = await loop.run();
    messages.onReady = () => {};
    recorder.finish(loop.now);
    if (this.#error !== undefined) throw this.#error;
    return { recorder, sentMs: Math.max(0, sentMs - warmupMs) };
  }

  #next(): KeyedMessage | undefined {
    try {
      return this.#options.messages.next();
    } catch (error) {
      this.#error ??= error;
      return undefined;
    }
  }

  /** Sends a message, again while it fails and `--retry-for` allows it. */
  async #send(message: KeyedMessage, began: number): Promise<LoadOutcome> {
    const { sender, retryForMs } = this.#options;
    for (let rounds = 1; ; rounds++) {
      const sentAt = elapsedMs();
      const result = await sender.send(message).catch((error: unknown) => {
        this.#error ??= error;
        return undefined;
      });
      if (result === undefined) {
        this.counts.unsent++;
        return { isAcknowledged: false, isUnsent: true, ms: 0, serviceMs: 0 };
      }
      const waitMs = this.#retryWaitMs(result, { began, rounds, retryForMs });
      if (waitMs !== undefined) {
        await sleep(waitMs, undefined, { signal: this.#stop }).catch(() => {});
        if (!this.#stop.aborted) continue;
      }
      const { ms: serviceMs } = result;
      const isUnsent = result.result === 'retryable' && result.error === 'aborted';
      this.#count(result, isUnsent);
      return {
        isAcknowledged: result.result === 'delivered',
        isUnsent,
        ms: sentAt - began + serviceMs,
        serviceMs,
      };
    }
  }

  #retryWaitMs(
    result: AttemptResult,
    { began, rounds, retryForMs }: { began: number; rounds: number; retryForMs: number },
  ): number | undefined {
    if (result.result !== 'retryable' || retryForMs === 0 || this.#stop.aborted) return undefined;
    const now = elapsedMs();
    const notBefore = [now + (result.retryAfterMs ?? 0)];
    const next = {
      now,
      firstAttemptAt: began,
      retryForMs,
      rounds,
      notBefore,
      roundMs: 0,
      random: Math.random(),
    };
    const at = nextRoundAt(next);
    return at === undefined ? undefined : at - now;
  }

  #count(result: AttemptResult, isUnsent: boolean): void {
    if (result.reconnected) this.counts.reconnected++;
    if (isUnsent) this.counts.unsent++;
    else if (result.result === 'delivered') this.counts.delivered++;
    else this.#countFailure(result);
  }

  #countFailure({ status, ...result }: AttemptResult): void {
    this.counts.failed++;
    const { error = '' } = 'error' in result ? result : {};
    const shown = { url: this.#options.sender.shownUrl, error, ...(status !== undefined && { status }) };
    const text = attemptText(shown);
    if (this.failures.size < MAX_KINDS || this.failures.has(text)) {
      this.failures.set(text, (this.failures.get(text) ?? 0) + 1);
    }
  }
}

/** Runs tasks with a common key one after the other. A task without a key runs at once. */
class KeyOrder {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(keys: readonly string[], task: () => Promise<Result>): Promise<Result> {
    if (keys.length === 0) return task();
    const earlier = keys.flatMap((key) => this.#last.get(key) ?? []);
    const running = Promise.all(earlier).then(task);
    for (const key of keys) this.#last.set(key, running);
    try {
      return await running;
    } finally {
      for (const key of keys) if (this.#last.get(key) === running) this.#last.delete(key);
    }
  }
}
