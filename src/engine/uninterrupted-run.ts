import type { Clock } from '../clock.ts';

const LOOK_MS = 2_000;
/** Longer than a busy process is late. */
const LATE_MS = 3_000;

/**
 * Knows since when this process has run without interruption. A process that was stopped (SIGSTOP, Ctrl-Z, a debugger), or whose
 * clock was set forward, sees it by how late it comes to what it does every LOOK_MS.
 */
export class UninterruptedRun {
  readonly #clock: Clock;
  readonly #isNeeded: () => boolean;
  #since: number;
  #seenAt: number;
  #cancel: (() => void) | undefined;

  /** Looks for breaks from `watch` on, for as long as that is needed: an idle process has no timer. */
  constructor(clock: Clock, isNeeded: () => boolean) {
    this.#clock = clock;
    this.#isNeeded = isNeeded;
    this.#since = clock.now();
    this.#seenAt = this.#since;
  }

  /** Ms since the epoch. The first call after a break notices it, before any timer does. */
  since(now = this.#clock.now()): number {
    if (now - this.#seenAt > LOOK_MS + LATE_MS) this.#since = now;
    this.#seenAt = now;
    return this.#since;
  }

  watch(): void {
    if (this.#cancel !== undefined) return;
    this.#seenAt = this.#clock.now();
    this.#lookLater();
  }

  close(): void {
    this.#cancel?.();
  }

  #lookLater(): void {
    this.#cancel = this.#clock.after(LOOK_MS, () => {
      this.since();
      this.#cancel = undefined;
      if (this.#isNeeded()) this.#lookLater();
    });
  }
}
