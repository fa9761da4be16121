import { setMaxListeners } from 'node:events';
import { sleep, type Clock } from '../clock.ts';

interface ClosingWindowOptions {
  readonly clock: Clock;
  /** How long an endpoint may fail while its sink is closing. Ms. */
  readonly windowMs: number;
  /** Signal that ends every wait for a retry when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Decides when a closing sink gives up a failing endpoint. Each batch has its own retry window, and there may be hundreds:
 * without a common end, closing would take hours. A slow endpoint is not given up while it accepts batches.
 */
export class ClosingWindow {
  readonly #options: ClosingWindowOptions;
  readonly #began = new AbortController();
  /** Aborts with `signal`, and when closing begins, because a wait that began before closing may end after `endAt`. */
  readonly #wake: AbortSignal;
  #closingAt: number | undefined;
  /** Start of the first failed attempt since the last success. Ms since the epoch. */
  #failingSince: number | undefined;

  constructor(options: ClosingWindowOptions) {
    this.#options = options;
    const signals = options.signal === undefined ? [] : [options.signal];
    this.#wake = AbortSignal.any([...signals, this.#began.signal]);
    // No limit, because every waiting batch adds a listener.
    setMaxListeners(0, this.#wake);
  }

  begin(): void {
    this.#closingAt ??= this.#options.clock.now();
    this.#began.abort();
  }

  /** Records the result of an attempt that started at `at`. */
  attempted(at: number, hasFailed: boolean): void {
    if (!hasFailed) this.#failingSince = undefined;
    else this.#failingSince ??= at;
  }

  /** The time after which a closing sink starts no attempt for any batch. Ms since the epoch. */
  get endAt(): number {
    if (this.#closingAt === undefined || this.#failingSince === undefined) return Infinity;
    return Math.max(this.#closingAt, this.#failingSince) + this.#options.windowMs;
  }

  /** Waits `ms`, but not beyond `endAt`. Also returns when `signal` aborts; the caller must check `signal`. */
  async wait(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    const until = clock.now() + ms;
    await sleep(clock, ms, this.#wake);
    const leftMs = Math.min(until, this.endAt) - clock.now();
    if (leftMs > 0) await sleep(clock, leftMs, signal);
  }
}
