import { describe, expect, it } from 'vitest';
import { LoadControl } from '../../../../../src/cli/verbs/replay/load/load-control.ts';
import type { LoadSending } from '../../../../../src/cli/verbs/replay/load/load-sending.ts';
import { findMax } from '../../../../../src/cli/verbs/replay/load/max-load.ts';
import { dueTimes, WHOLE } from '../../../../../src/replay/load/load-curve.ts';
import { curveOf } from '../../../../../src/replay/load/load-shape.ts';
import { readObjectives } from '../../../../../src/replay/load/objectives.ts';

const COUNTS = {
  read: 1,
  delivered: 1,
  failed: 0,
  unsent: 0,
  invalid: 0,
  filtered: 0,
  skipped: 0,
  warmupFailed: 0,
};

/** Sends the messages of each step at once to a receiver that takes `limit` messages per second, but not for long. */
function limited(limit: number, longestMs = Infinity): LoadSending & { readonly times: number[] } {
  const times: number[] = [];
  return {
    times,
    report: { url: 'http://receiver/', counts: COUNTS, failures: {}, isEnded: false },
    part: ({ shape, forMs }, { add }) => {
      const curve = curveOf(shape, forMs);
      times.push(curve.durationMs);
      const isHeld = Number.parseFloat(shape) <= limit && curve.durationMs < longestMs;
      const kind = isHeld ? 'acknowledged' : 'failed';
      for (const at of dueTimes(curve, WHOLE)) {
        add({ kind: 'sent', at, dueAt: at, ms: 0, serviceMs: 0 });
        add({ kind, at, dueAt: at, ms: 1, serviceMs: 1 });
      }
      return Promise.resolve({ sentMs: curve.durationMs, endedMs: curve.durationMs, isShort: false });
    },
    stop: () => {},
    abort: () => {},
    close: () => Promise.resolve(),
  };
}

function found(sending: LoadSending, durationMs: number) {
  return findMax(new LoadControl([sending], new AbortController().signal), {
    durationMs,
    warmupMs: 0,
    objectives: readObjectives('errors=0'),
    onSecond: () => {},
    onStep: () => {},
    signal: AbortSignal.abort(),
  });
}

describe('the search for the highest rate in a time', () => {
  // Their sums of steps leave a time that is hardly above zero.
  it.each([24_000, 35_000, 40_000, 61_000, 100_000])('takes whole steps of at most %i ms', async (ms) => {
    const sending = limited(213, (1.5 * ms) / 24);
    const { max } = await found(sending, ms);
    const steps = sending.times.map((time) => time / (ms / 24));
    for (const step of steps) expect(step).toBeCloseTo(step > 1.5 ? 2 : 1, 6);
    expect(steps.reduce((sum, step) => sum + step)).toBeLessThan(24.01);
    expect(max.rate).toBeNull();
  });

  it('describes the step that confirmed the result', async () => {
    const { max, recorder, sentMs } = await found(limited(213), 48_000);
    expect(max).toMatchObject({ rate: 213, reached: 213 });
    expect(recorder.total.counts).toMatchObject({ acknowledged: 2 * 2 * 213, errors: 0 });
    expect(sentMs).toBe(4_000);
  });

  it('describes the step that held, and has no result when the time ends first', async () => {
    const { max, recorder } = await found(limited(150), 4_000);
    expect(max).toMatchObject({ rate: null, reached: 150 });
    expect(recorder.total.counts).toMatchObject({ acknowledged: 150, errors: 0 });
  });
});
