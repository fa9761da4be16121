/** The only source of time. Tests use a clock that they control (test/fake-clock.ts). */
export interface Clock {
  /**
   * Returns the time in ms since the epoch. This time never goes back, except in `wallClock`, so that waits do not get
   * longer if the clock is set back.
   */
  now(): number;
  /** Returns the part of the time since `since`, in ms, that was skipped because the wall clock was set forward. */
  skipped(since: number): number;
  /** Advances this clock to `time`, which another process has already seen. `skipped` does not count this advance. */
  reach(time: number): void;
  /**
   * Calls `callback` once after `ms`, of any length; setTimeout fires at once from 2^31 ms on. Returns a function that
   * cancels.
   */
  after(ms: number, callback: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns the time in ms since an arbitrary point, which setting the wall clock does not change. Avoids `performance`, whose
 * first use makes Node load modules for 1 ms.
 */
export function elapsedMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * Returns the processor time of this thread in ms since an arbitrary point. It excludes the load of other programs. Before
 * Node 23.9, returns the processor time of the process instead, which includes the garbage collector's threads.
 */
export function processorMs(): number {
  // The types of Node 20 do not have `threadCpuUsage`.
  const later = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };
  const { user, system } = later.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1e3;
}

/** Rounds to microseconds: further digits of a difference of times are noise and lengthen every output line. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/**
 * Formats a time (ms since the epoch) as RFC 3339 in UTC. Caches the latest text, because formatting takes half a
 * microsecond.
 */
export function isoTime(ms: number): string {
  const wholeMs = Math.trunc(ms);
  if (wholeMs !== latestTime.ms) latestTime = { ms: wholeMs, text: new Date(wholeMs).toISOString() };
  return latestTime.text;
}

let latestTime = { ms: NaN, text: '' };

/** The wall clock time at which `elapsedMs` was 0. Undefined until the time is first read. */
let epochMs: number | undefined;

/**
 * The clock for state that ends with this process. Starts at the wall clock time and ignores later changes of the wall
 * clock.
 */
export const systemClock: Clock = {
  now: () => (epochMs ??= Date.now() - elapsedMs()) + elapsedMs(),
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

/** The clock for times that people read, such as in a log. It can go back like the wall clock, so waits must not use it. */
export const wallClock: Clock = { ...systemClock, now: () => Date.now() };

/** The two sources from which a clock gets its time, in ms. */
export interface TimeSource {
  /** Returns the time since the epoch. The wall clock may be set while the process runs. */
  readonly wall: () => number;
  /** Returns the time since an arbitrary point. Unlike the wall clock, this time cannot be set. */
  readonly elapsed: () => number;
}

const SYSTEM_TIME: TimeSource = { wall: () => Date.now(), elapsed: elapsedMs };

/** Smallest difference between two clocks that counts as a skip: reading one after the other causes smaller differences. */
const SMALLEST_SKIP_MS = 100;
/** Number of skips to keep: enough for a month on a machine that sleeps every hour. */
const MOST_SKIPS = 1_000;

/**
 * The clock for times in a file that several processes share. All processes see the wall clock, so this clock follows it at
 * once when it is set forward or the machine wakes from sleep. When it is set back, this clock continues unchanged until the
 * wall clock has caught up, so that due deliveries stay due; a process that starts later gets the time by `reach`.
 */
export class SharedClock implements Clock {
  readonly #source: TimeSource;
  /** Milliseconds by which the time of this clock is ahead of the elapsed time of its source. */
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

/** Resolves after `ms`, or at once when `signal` aborts; the caller must check the signal. */
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

/** A retry policy: waits start at `firstMs` and double with each consecutive failure, up to `longestMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * The wait in ms after a number of consecutive failures, from 1, with equal jitter: half is fixed and half random (`random`
 * from 0 to 1), so that senders that failed together do not retry together.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return (full / 2) * (1 + random);
}
