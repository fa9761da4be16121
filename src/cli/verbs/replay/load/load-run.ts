import type { DirectSender } from '../../../../app/load/direct-sender.ts';
import { elapsedMs } from '../../../../clock.ts';
import type { AttemptResult } from '../../../../engine/round/attempt-result.ts';
import { nextRoundAt } from '../../../../engine/round/schedule.ts';
import type { ConnectionSlots } from '../../../../replay/load/connection-budget.ts';
import { dueTimes, withWarmup, type LoadShare } from '../../../../replay/load/load-curve.ts';
import { curveOf } from '../../../../replay/load/load-shape.ts';
import { attemptText } from '../../../attempt-text.ts';
import type { KeyedMessage, LoadMessages } from './load-messages.ts';
import type { LoadEvents, LoadPart, LoadReport, LoadSending, PartTimes } from './load-sending.ts';
import { OpenLoop, type LoadOutcome } from './open-loop.ts';
import { RetryTurns } from './retry-turns.ts';

interface LoadRunOptions {
  readonly sender: DirectSender;
  readonly messages: LoadMessages;
  readonly share: LoadShare;
  /** Limits the number of messages in flight. */
  readonly slots: ConnectionSlots;
  /** Time to retry a failed message, in ms. 0 for one attempt. */
  readonly retryForMs: number;
  /** Aborts the attempts in flight. */
  readonly aborting: AbortController;
}

interface Sending {
  readonly began: number;
  /** Whether the message was due after the warm-up, so that its failure counts in `failures`. */
  readonly isCounted: boolean;
  readonly onRequest: (kind: 'failing' | 'retried') => void;
}

/** Maximum number of different failure texts to count. Others are counted together. */
const MAX_KINDS = 20;
const OTHER_FAILURES = 'failed in other ways';

/** Sends the parts of a load one after the other in this thread, over the same connections. */
export class LoadRun implements LoadSending {
  readonly #counts = { delivered: 0, failed: 0, unsent: 0, warmupFailed: 0 };
  readonly #failures: Record<string, number> = {};
  readonly #options: LoadRunOptions;
  readonly #order = new KeyOrder();
  readonly #stopping = new AbortController();
  readonly #turns = new RetryTurns();
  #error: unknown;

  constructor(options: LoadRunOptions) {
    this.#options = options;
  }

  get report(): LoadReport {
    const { messages } = this.#options;
    const counts = { ...messages.counts, ...this.#counts };
    const { shownUrl: url } = this.#options.sender;
    return { url, counts, failures: { ...this.#failures }, isEnded: messages.isEnded };
  }

  async part({ shape, forMs, warmupMs, startAt }: LoadPart, events: LoadEvents): Promise<PartTimes> {
    const { messages, slots, share } = this.#options;
    const curve = withWarmup(curveOf(shape, forMs), warmupMs);
    const loop: OpenLoop<KeyedMessage> = new OpenLoop<KeyedMessage>({
      dueTimes: dueTimes(curve, share),
      durationMs: curve.durationMs,
      startAt,
      slots,
      signal: this.#stopping.signal,
      next: () => this.#next(),
      isEnded: () => this.#error !== undefined || messages.isEnded,
      send: (message, dueAt, start) => {
        const began = elapsedMs();
        const isCounted = dueAt >= warmupMs;
        const onRequest = (kind: 'failing' | 'retried'): void =>
          events.add({ kind, at: loop.now, dueAt, ms: 0, serviceMs: 0 });
        return this.#order.run(message.orderKeys, () => {
          if (start()) return this.#send(message, { began, isCounted, onRequest });
          this.#counts.unsent++;
          return Promise.resolve({ kind: 'not-sent', ms: 0, serviceMs: 0 });
        });
      },
      retry: () => this.#turns.take(),
      onEnd: () => this.#turns.release(),
      onEvent: events.add,
      onTick: events.advance,
    });
    messages.onReady = () => loop.wake();
    this.#turns.open();
    const sentMs = await loop.run();
    messages.onReady = () => {};
    if (this.#error !== undefined) throw this.#error;
    return { sentMs, endedMs: loop.now, isShort: sentMs < Math.floor(curve.durationMs) };
  }

  stop(): void {
    this.#stopping.abort();
    this.#turns.end();
  }

  abort(): void {
    this.#options.aborting.abort();
  }

  async close(): Promise<void> {
    this.#options.messages.close();
    await this.#options.sender.close();
  }

  #next(): KeyedMessage | undefined {
    try {
      return this.#options.messages.next();
    } catch (error) {
      this.#error ??= error;
      return undefined;
    }
  }

  /** Sends a message. Retries it while the error is retryable and `--retry-for` allows it. */
  async #send(message: KeyedMessage, { began, isCounted, onRequest }: Sending): Promise<LoadOutcome> {
    const { signal } = this.#stopping;
    for (let rounds = 1; ; rounds++) {
      const sentAt = elapsedMs();
      const result = await this.#options.sender.send(message).catch((error: unknown) => {
        this.#error ??= error;
        return undefined;
      });
      if (result?.reconnected === true) onRequest('retried');
      const waitMs = this.#retryWaitMs(result, began, rounds);
      if (waitMs !== undefined) {
        onRequest('failing');
        await this.#turns.wait(waitMs);
        if (!signal.aborted) {
          onRequest('retried');
          continue;
        }
      }
      const kind = this.#count(result, isCounted);
      const serviceMs = result?.ms ?? 0;
      const ms = sentAt - began + serviceMs;
      return { kind, ms, serviceMs };
    }
  }

  #retryWaitMs(result: AttemptResult | undefined, began: number, rounds: number): number | undefined {
    const { retryForMs } = this.#options;
    const isRetried = result?.result === 'retryable' && retryForMs > 0 && !this.#stopping.signal.aborted;
    if (!isRetried) return undefined;
    const now = elapsedMs();
    const window = { now, firstAttemptAt: began, retryForMs, rounds, roundMs: 0, random: Math.random() };
    const at = nextRoundAt({ ...window, notBefore: [now + (result.retryAfterMs ?? 0)] });
    return at === undefined ? undefined : at - now;
  }

  #count(result: AttemptResult | undefined, isCounted: boolean): LoadOutcome['kind'] {
    if (result === undefined || (result.result === 'retryable' && result.error === 'aborted')) {
      this.#counts.unsent++;
      return 'unsent';
    }
    // If a connection breaks before the response, the HTTP client may send the message again on another connection. The
    // receiver may then have the message twice, which counts as an error unless retries are allowed.
    const isResent = result.reconnected === true && this.#options.retryForMs === 0;
    if (result.result === 'delivered' && !isResent) {
      this.#counts.delivered++;
      return 'acknowledged';
    }
    this.#counts.failed++;
    if (!isCounted) this.#counts.warmupFailed++;
    else if (isResent) this.#countFailure(this.#failureText({ error: 'reset' }) + RESENT);
    else if (result.result !== 'delivered') this.#countFailure(this.#failureText(result));
    return !isResent && result.result !== 'delivered' && result.error === 'timeout' ? 'timed-out' : 'failed';
  }

  #failureText({ status, error }: { readonly status?: number; readonly error: string }): string {
    const { shownUrl: url } = this.#options.sender;
    return attemptText({ url, error, ...(status !== undefined && { status }) });
  }

  #countFailure(text: string): void {
    const isKnown = text in this.#failures || Object.keys(this.#failures).length < MAX_KINDS;
    const kind = isKnown ? text : OTHER_FAILURES;
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1;
  }
}

/** Suffix of the failure text of a message that the HTTP client sent again. */
const RESENT = ' (the HTTP client sent the message again)';

/** Runs tasks that share a key one after the other. Runs a task without keys at once. */
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
