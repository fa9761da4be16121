/**
 * When the messages of a load are due: a count of messages that rises with time, and its inverse. Times are ms since the start
 * of the curve, rates are messages per second.
 */
export interface LoadCurve {
  readonly durationMs: number;
  /** Number of messages due before the end. Can have a fraction, which the next curve of a sequence continues. */
  readonly count: number;
  /** Returns when message `n`, from 0, is due. Defined for `n` below `count`; later messages are not due later. */
  readonly dueAt: (n: number) => number;
  readonly rateAt: (ms: number) => number;
}

export function constantRate(perSecond: number, durationMs: number): LoadCurve {
  return {
    durationMs,
    count: (perSecond * durationMs) / 1_000,
    dueAt: (n) => (n * 1_000) / perSecond,
    rateAt: () => perSecond,
  };
}

/** A rate that changes linearly. */
export function ramp(from: number, to: number, durationMs: number): LoadCurve {
  const seconds = durationMs / 1_000;
  const slope = (to - from) / seconds;
  return {
    durationMs,
    count: ((from + to) / 2) * seconds,
    // Solves n = from·t + slope/2·t² in the form that does not subtract nearly equal numbers.
    dueAt: (n) => (n === 0 ? 0 : (2_000 * n) / (from + Math.sqrt(Math.max(0, from ** 2 + 2 * slope * n)))),
    rateAt: (ms) => from + (slope * ms) / 1_000,
  };
}

/** `size` messages at once, again after each `eachMs`. */
export function bursts(size: number, eachMs: number, durationMs: number): LoadCurve {
  return {
    durationMs,
    count: size * Math.ceil(durationMs / eachMs),
    dueAt: (n) => Math.floor(n / size) * eachMs,
    rateAt: () => (size * 1_000) / eachMs,
  };
}

/** A rate that swings between `low`, with which it begins, and `high`. */
export function sine({ low, high, periodMs }: SineOptions, durationMs: number): LoadCurve {
  const [middle, swing] = [(low + high) / 2, (high - low) / 2];
  const perMs = (2 * Math.PI) / periodMs;
  const countAt = (ms: number): number => (middle * ms - (swing * Math.sin(perMs * ms)) / perMs) / 1_000;
  return {
    durationMs,
    count: countAt(durationMs),
    dueAt: (n) => inverse(countAt, n, durationMs),
    rateAt: (ms) => middle - swing * Math.cos(perMs * ms),
  };
}

interface SineOptions {
  readonly low: number;
  readonly high: number;
  readonly periodMs: number;
}

/** Halvings of the search for a time: they bring a month to less than a microsecond. */
const HALVINGS = 52;

/** Returns the earliest time, up to `lastMs`, at which a rising function reaches `wanted`. */
function inverse(rising: (ms: number) => number, wanted: number, lastMs: number): number {
  let [low, high] = [0, lastMs];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2;
    if (rising(middle) < wanted) low = middle;
    else high = middle;
  }
  return high;
}

/** Curves one after the other. */
export function sequence(curves: readonly LoadCurve[]): LoadCurve {
  let [durationMs, count] = [0, 0];
  const parts = curves.map((curve) => {
    const part = { curve, startMs: durationMs, startCount: count };
    durationMs += curve.durationMs;
    count += curve.count;
    return part;
  });
  /** Finds the last part that begins at or before a position, by halving. */
  const partAt = (position: number, startOf: (part: (typeof parts)[number]) => number) => {
    let [first, last] = [0, parts.length - 1];
    while (first < last) {
      const middle = Math.ceil((first + last) / 2);
      const part = parts[middle];
      if (part !== undefined && startOf(part) <= position) first = middle;
      else last = middle - 1;
    }
    return parts[first];
  };
  return {
    durationMs,
    count,
    dueAt: (n) => {
      const part = partAt(n, ({ startCount }) => startCount);
      return part === undefined ? 0 : part.startMs + part.curve.dueAt(n - part.startCount);
    },
    rateAt: (ms) => {
      const part = partAt(ms, ({ startMs }) => startMs);
      return part === undefined ? 0 : part.curve.rateAt(ms - part.startMs);
    },
  };
}
