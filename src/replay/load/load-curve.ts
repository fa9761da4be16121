/** A part of a load, in which the rate changes linearly. Rates are messages per second. */
export interface LoadStage {
  readonly durationMs: number;
  readonly from: number;
  readonly to: number;
  /** Messages due at the start of the stage, besides those of the rate. */
  readonly atOnce?: number;
}

/** When the messages of a load are due. Times are ms since its start. */
export interface LoadCurve {
  /** End of the load. Stages after it are not used. */
  readonly durationMs: number;
  /** Yields the stages, one after the other. Lazy, because a long load can have millions; can be endless. */
  readonly stages: () => Iterable<LoadStage>;
}

/** One of several senders that share a load: sender `index`, from 0, sends each message whose number modulo `of` is `index`. */
export interface LoadShare {
  readonly index: number;
  readonly of: number;
}

/** The share of a sender that sends all messages. */
export const WHOLE: LoadShare = { index: 0, of: 1 };

/** Part of a message by which the sum of the stages can be wrong, because it is a sum of fractions. */
const TOLERANCE = 1e-6;

/** Yields when each message of a share is due, in order. */
export function* dueTimes({ durationMs, stages }: LoadCurve, { index, of }: LoadShare): Generator<number> {
  let [n, startMs, before] = [index, 0, 0];
  for (const stage of stages()) {
    if (startMs >= durationMs) return;
    const { from, to, atOnce = 0 } = stage;
    const slope = ((to - from) * 1_000) / stage.durationMs;
    const count = before + atOnce + ((from + to) * stage.durationMs) / 2_000;
    for (; n < count - TOLERANCE; n += of) {
      const more = n - before - atOnce;
      // Solves more = from·t + slope/2·t² in the form that does not subtract nearly equal numbers.
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

/** Puts the time before a curve that is sent and not counted. It has the first rate of the curve, at least 1 a second. */
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
