import type { Clock } from '../clock.ts';

const LOOK_MS = 2_000;
/** Milliseconds by which a timer of a busy process can be late. A timer that is even later shows an interruption. */
const LATE_MS = 3_000;

/**
 * Tracks since when this process has run without interruption. A process that was stopped (SIGSTOP, Ctrl-Z, a debugger),
 * or whose clock was set forward, notices it because a timer of LOOK_MS fires too late.
 */
export class UninterruptedRun {
  readonly #clock: Clock;
  readonly #isNeeded: () => boolean;
  #since: number;
  #seenAt: number;
  #cancel: (() => void) | undefined;

  /** `watch` keeps its timer only while `isNeeded` returns true, because an idle process should have no timer. */
  constructor(clock: Clock, isNeeded: () => boolean) {
    this.#clock = clock;
    this.#isNeeded = isNeeded;
    this.#since = clock.now();
    this.#seenAt = this.#since;
  }

  /**
   * Returns since when this process has run without interruption, in milliseconds since the epoch. Notices an interruption
   * itself, even before the timer does.
   */
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
