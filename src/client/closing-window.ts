import { setMaxListeners } from 'node:events';
import { sleep, type Clock } from '../clock.ts';

interface ClosingWindowOptions {
  readonly clock: Clock;
  /** How long an endpoint may fail while its sink is being closed. */
  readonly windowMs: number;
  /** Ends every wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * When a sink that is being closed gives up an endpoint that fails. Each batch has a retry window of its own, and there
 * may be hundreds of them: without a common end, closing would take hours. An endpoint that takes batches, however
 * slowly, is not given up.
 */
export class ClosingWindow {
  readonly #options: ClosingWindowOptions;
  readonly #began = new AbortController();
  /** Aborts at the beginning too, since the waits until then were longer. */
  readonly #wake: AbortSignal;
  #closingAt: number | undefined;
  /** The beginning of the first attempt that failed since the last one that did not. */
  #failingSince: number | undefined;

  constructor(options: ClosingWindowOptions) {
    this.#options = options;
    const signals = options.signal === undefined ? [] : [options.signal];
    this.#wake = AbortSignal.any([...signals, this.#began.signal]);
    // Every batch that waits listens to it.
    setMaxListeners(0, this.#wake);
  }

  begin(): void {
    this.#closingAt ??= this.#options.clock.now();
    this.#began.abort();
  }

  /** Takes the result of each attempt. */
  attempted(at: number, hasFailed: boolean): void {
    if (!hasFailed) this.#failingSince = undefined;
    else this.#failingSince ??= at;
  }

  /** No attempt starts after it. Ms since the epoch. */
  get endAt(): number {
    if (this.#closingAt === undefined || this.#failingSince === undefined) return Infinity;
    return Math.max(this.#closingAt, this.#failingSince) + this.#options.windowMs;
  }

  /** Waits, but not past the end. The caller looks at the signal next. */
  async wait(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    const until = clock.now() + ms;
    await sleep(clock, ms, this.#wake);
    const leftMs = Math.min(until, this.endAt) - clock.now();
    if (leftMs > 0) await sleep(clock, leftMs, signal);
  }
}
