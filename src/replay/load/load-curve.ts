/** A stage of a load test, in which the rate changes linearly. Rates are in messages per second. */
export interface LoadStage {
  readonly durationMs: number;
  readonly from: number;
  readonly to: number;
  /** Messages due all at once at the start of the stage, in addition to those of the rate. */
  readonly atOnce?: number;
}

/** The schedule of a load test. Times are in ms since its start. */
export interface LoadCurve {
  /** End of the load. Later stages are ignored. */
  readonly durationMs: number;
  /** Yields the stages in order. Lazy, because a long load can have millions of stages, and some shapes are endless. */
  readonly stages: () => Iterable<LoadStage>;
}

/** The share of sender `index` of `of` senders: the messages whose number modulo `of` is `index`. */
export interface LoadShare {
  readonly index: number;
  readonly of: number;
}

/** The share of a single sender, which sends all messages. */
export const WHOLE: LoadShare = { index: 0, of: 1 };

/** Tolerance for rounding errors in a number of messages, which is a sum of fractions. */
const TOLERANCE = 1e-6;

/** Yields the due time of each message of a share, in ascending order. */
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

/** Puts a warm-up before a curve. Its rate is the first rate of the curve, but at least 1 message per second. */
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
