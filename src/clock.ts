/** The only source of time. Tests hand in one that they move by hand (test/fake-clock.ts). */
export interface Clock {
  /** Milliseconds since the epoch. But for `wallClock` it never goes back, so a clock that is set back lengthens no wait. */
  now(): number;
  /** How much of the time since then has not passed, but was skipped when the wall clock was set forward. Ms. */
  skipped(since: number): number;
  /** Goes forward to `time`, where others have been already. That skips nothing. */
  reach(time: number): void;
  /** Calls back once after `ms` (any length; setTimeout alone fires at once from 2^31 on). Returns how to cancel. */
  after(ms: number, callback: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ms since whenever. Nobody can set it. Not by `performance`: the first look at that loads what takes Node a millisecond. */
export function elapsedMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** To microseconds: the digits behind them are noise of the subtraction, and make every line that shows them longer. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

const STARTED_AT = Date.now() - elapsedMs();

/** For what lives and dies with this process: it starts at the wall clock, and whoever sets that moves nothing here. */
export const systemClock: Clock = {
  now: () => STARTED_AT + elapsedMs(),
  skipped: () => 0,
  reach: () => {},
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

/** For what people read, such as a log. It goes back when the wall clock does, so nothing waits by it. */
export const wallClock: Clock = { ...systemClock, now: () => Date.now() };

/** Where time comes from, in ms. */
export interface TimeSource {
  /** Since the epoch. Somebody may set it. */
  readonly wall: () => number;
  /** Since whenever. Nobody can set it. */
  readonly elapsed: () => number;
}

const SYSTEM_TIME: TimeSource = { wall: () => Date.now(), elapsed: elapsedMs };

/** Less than this is how two clocks are read one after the other, not that one was set. */
const SMALLEST_SKIP_MS = 100;
/** A machine that sleeps every hour is remembered for a month. */
const MOST_SKIPS = 1_000;

/**
 * For what processes share that come and go: the times in a file. All of them see the wall clock, so it is followed at
 * once when it is set forward, or has gone on while the machine slept. When it is set back, time goes on as if it had not
 * been, until the wall clock has caught up: what is due stays due, and whoever comes later learns by `reach` how late it is.
 */
export class SharedClock implements Clock {
  readonly #source: TimeSource;
  /** Of `now` before what has elapsed. */
  #aheadMs: number;
  #skips: { readonly at: number; readonly ms: number }[] = [];

  constructor(source = SYSTEM_TIME) {
    this.#source = source;
    this.#aheadMs = source.wall() - source.elapsed();
  }

  now(): number {
    const at = this.#source.elapsed() + this.#aheadMs;
    const ms = this.#source.wall() - at;
    if (ms < SMALLEST_SKIP_MS) return at;
    this.#skips = [...this.#skips, { at, ms }].slice(-MOST_SKIPS);
    this.#aheadMs += ms;
    return at + ms;
  }

  after(ms: number, callback: () => void): () => void {
    return systemClock.after(ms, callback);
  }

  skipped(since: number): number {
    this.now();
    return this.#skips.reduce((sum, { at, ms }) => (at >= since ? sum + ms : sum), 0);
  }

  reach(time: number): void {
    this.#aheadMs += Math.max(0, time - this.now());
  }
}

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
