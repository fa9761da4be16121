/** The only source of time. Tests hand in one that they move by hand (test/fake-clock.ts). */
export interface Clock {
  /**
   * Milliseconds since the epoch. Inside one process it never goes back, so a clock that is set back does not
   * lengthen a retry window; across processes it is comparable, because it is anchored at the wall clock.
   */
  now(): number;
  /** Calls back once after `ms` (any length; setTimeout alone fires at once from 2^31 on). Returns how to cancel. */
  after(ms: number, callback: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, callback) => {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      timer =
        left > LONGEST_TIMER_MS
          ? setTimeout(() => arm(left - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
          : setTimeout(callback, left);
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when `signal` aborts: whoever waits looks at the signal next. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(ms, wake);
    signal?.addEventListener('abort', wake);
  });
}
