/** The only source of time. Tests hand in one that they move by hand (test/fake-clock.ts). */
export interface Clock {
  /** Milliseconds since the epoch. Never goes back, except in `wallClock`, so a clock that is set back lengthens no wait. */
  now(): number;
  /** How much of the time since `since` did not pass, but was skipped when the wall clock was set forward. Ms. */
  skipped(since: number): number;
  /** Goes forward to `time`, which another process has already seen. Does not count as a skip. */
  reach(time: number): void;
  /** Calls back once after `ms` (any length; setTimeout alone fires at once from 2^31 on). Returns how to cancel. */
  after(ms: number, callback: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ms since an arbitrary point. Cannot be set. Not read from `performance`, whose first use makes Node load modules for a millisecond. */
export function elapsedMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * The processor time of this thread in ms, since an arbitrary point: how busy the machine is with other programs does not count. Before Node 23.9 that of
 * the process, of which the garbage collector's threads are a part.
 */
export function processorMs(): number {
  // The types are those of Node 20.
  const later = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };
  const { user, system } = later.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1e3;
}

/** Rounds to microseconds: further digits are noise of the subtraction, and lengthen every line that shows them. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** A time (ms since the epoch) as RFC 3339 has it, in UTC. Messages of one millisecond share one text, which costs half a microsecond. */
export function isoTime(ms: number): string {
  const wholeMs = Math.trunc(ms);
  if (wholeMs !== latestTime.ms) latestTime = { ms: wholeMs, text: new Date(wholeMs).toISOString() };
  return latestTime.text;
}

let latestTime = { ms: NaN, text: '' };

/** When `elapsedMs` was 0, by the wall clock; undefined until the time is read. */
let epochMs: number | undefined;

/** The clock for state that ends with this process. Starts at the wall clock, and ignores later changes of it. */
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

/** The clock for times that people read, such as a log's. Goes back when the wall clock does, so nothing waits by it. */
export const wallClock: Clock = { ...systemClock, now: () => Date.now() };

/** The two sources of time, in ms. */
export interface TimeSource {
  /** Since the epoch. May be set while the process runs. */
  readonly wall: () => number;
  /** Since an arbitrary point. Cannot be set. */
  readonly elapsed: () => number;
}

const SYSTEM_TIME: TimeSource = { wall: () => Date.now(), elapsed: elapsedMs };

/** A smaller difference comes from reading two clocks one after the other, not from setting one. */
const SMALLEST_SKIP_MS = 100;
/** The most skips kept: a month of a machine that sleeps every hour. */
const MOST_SKIPS = 1_000;

/**
 * The clock for times in a file that several processes share. All of them see the wall clock, so this clock follows it at
 * once when it is set forward, or went on while the machine slept. When it is set back, this clock goes on as if it had not
 * been, until the wall clock has caught up: what is due stays due, and a process that starts later learns the time by `reach`.
 */
export class SharedClock implements Clock {
  readonly #source: TimeSource;
  /** How far `now` is ahead of the elapsed time. */
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

/** Resolves after `ms`, or at once when `signal` aborts: the caller checks the signal next. */
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

/** A retry policy: waits that double with each failure in a row, up to a longest one. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * The wait after a number of failures in a row, from 1, with equal jitter: half of it is fixed and half random (`random` from 0 to 1),
 * because senders that failed together must not return together.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return (full / 2) * (1 + random);
}
