/** A stage of a load test, in which the rate changes linearly from `from` to `to`, in messages per second. */
export interface LoadStage {
  readonly durationMs: number;
  readonly from: number;
  readonly to: number;
  /** Number of extra messages that are due at the start of the stage, on top of those that the rate makes due. @default 0 */
  readonly atOnce?: number;
}

/** The schedule of a load test. Times are in ms since its start. */
export interface LoadCurve {
  /** End of the load. Messages that the stages make due then or later are dropped. */
  readonly durationMs: number;
  /** Yields the stages in order. Lazy, because a long load can have millions of stages, and some shapes are endless. */
  readonly stages: () => Iterable<LoadStage>;
}

/** The share of one of several senders: the messages whose number (from 0) modulo `of` is `index`. `of` counts the senders. */
export interface LoadShare {
  readonly index: number;
  readonly of: number;
}

/** The share of a single sender, which sends all messages. */
export const WHOLE: LoadShare = { index: 0, of: 1 };

/** Tolerance for rounding errors in a count of messages, which is a sum of fractions. */
const TOLERANCE = 1e-6;

/** Yields the due time of each message of a share, in ascending order, in ms since the start of the load. */
export function* dueTimes({ durationMs, stages }: LoadCurve, { index, of }: LoadShare): Generator<number> {
  let [n, startMs, before] = [index, 0, 0];
  for (const stage of stages()) {
    if (startMs >= durationMs) return;
    const { from, to, atOnce = 0 } = stage;
    const slope = ((to - from) * 1_000) / stage.durationMs;
    const count = before + atOnce + ((from + to) * stage.durationMs) / 2_000;
    for (; n < count - TOLERANCE; n += of) {
      const more = n - before - atOnce;
      // Solves more = from·t + slope/2·t² for t, in the form that does not subtract nearly equal numbers.
      const seconds =
        more > 0 ? (2 * more) / (from + Math.sqrt(Math.max(0, from ** 2 + 2 * slope * more))) : 0;
      const dueAt = startMs + seconds * 1_000;
      if (dueAt >= durationMs) return;
      yield dueAt;
    }
    startMs += stage.durationMs;
    before = count;
  }
}

/**
 * Puts a warm-up before a curve. The rate of the warm-up is constant: the first rate of the curve, plus the burst of its
 * first stage averaged over that stage, but at least 1 message per second.
 */
export function withWarmup({ durationMs, stages }: LoadCurve, warmupMs: number): LoadCurve {
  if (warmupMs === 0) return { durationMs, stages };
  return {
    durationMs: warmupMs + durationMs,
    *stages() {
      for (const { from, atOnce = 0, durationMs: firstMs } of stages()) {
        const rate = Math.max(1, from + (atOnce * 1_000) / firstMs);
        yield { durationMs: warmupMs, from: rate, to: rate };
        break;
      }
      yield* stages();
    },
  };
}
