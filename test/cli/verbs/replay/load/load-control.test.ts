import { describe, expect, it } from 'vitest';
import { LoadControl } from '../../../../../src/cli/verbs/replay/load/load-control.ts';
import type { LoadEvents, LoadSending } from '../../../../../src/cli/verbs/replay/load/load-sending.ts';
import type { LoadEvent, LoadSecond } from '../../../../../src/replay/load/load-recorder.ts';
import { readObjectives } from '../../../../../src/replay/load/objectives.ts';
import { judgeObjectives } from '../../../../../src/replay/load/verdict.ts';

const SECONDS = 40;
const COUNTS = {
  read: 10,
  delivered: 8,
  failed: 2,
  unsent: 0,
  invalid: 0,
  filtered: 0,
  skipped: 0,
  warmupFailed: 0,
};

interface FakeSending extends LoadSending {
  /** Seconds after which the sending was told to stop. */
  readonly stoppedAt: () => number | undefined;
}

/** Sends a message each second, which ends as `kindAt` says. Several tell their events in turns, as threads do. */
function fakeSending(kindAt: (second: number) => LoadEvent['kind']): FakeSending {
  const state: { second: number; stoppedAt?: number } = { second: 0 };
  return {
    report: { url: 'http://receiver/', counts: COUNTS, failures: { '503': 2 }, isEnded: false },
    part: async (_part, { add, advance }: LoadEvents) => {
      for (; state.second < SECONDS && state.stoppedAt === undefined; state.second++) {
        const at = state.second * 1_000;
        add({ kind: 'sent', at, dueAt: at, ms: 0, serviceMs: 0 });
        add({ kind: kindAt(state.second), at: at + 1, dueAt: at, ms: 1, serviceMs: 1 });
        advance(at + 2);
        await Promise.resolve();
      }
      const sentMs = state.second * 1_000;
      return { sentMs, endedMs: sentMs, isShort: state.stoppedAt !== undefined };
    },
    stop: () => {
      state.stoppedAt ??= state.second;
    },
    abort: () => {},
    close: () => Promise.resolve(),
    stoppedAt: () => state.stoppedAt,
  };
}

async function controlled(sendings: readonly FakeSending[], slo = 'errors=0') {
  const control = new LoadControl(sendings, new AbortController().signal);
  const seconds: LoadSecond[] = [];
  const onSecond = (second: LoadSecond): void => void seconds.push(second);
  const objectives = readObjectives(slo);
  const part = { shape: '1/s', forMs: SECONDS * 1_000, warmupMs: 0, objectives, onSecond };
  const { recorder, sentMs } = await control.part(part);
  return { control, seconds, ...judgeObjectives(objectives, recorder.figures(sentMs), recorder) };
}

describe('a load that several senders share', () => {
  it('is the sum of their seconds and of their counts', async () => {
    const { control, seconds } = await controlled([
      fakeSending(() => 'acknowledged'),
      fakeSending((second) => (second === 7 ? 'failed' : 'acknowledged')),
    ]);
    expect(seconds).toHaveLength(SECONDS);
    expect(seconds.every(({ sent }) => sent === 2)).toBe(true);
    expect(seconds.filter(({ errors }) => errors > 0).map(({ second }) => second)).toEqual([8]);
    expect(control.report.counts).toMatchObject({ read: 20, delivered: 16, failed: 4 });
    expect(control.report.failures).toEqual({ '503': 4 });
  });

  it('breaks an objective in the first second in which one of them breaks it', async () => {
    const { isSenderLimited, slo } = await controlled([
      fakeSending(() => 'acknowledged'),
      fakeSending((second) => (second >= 12 ? 'failed' : 'acknowledged')),
    ]);
    expect(isSenderLimited).toBe(false);
    expect(slo).toMatchObject([{ held: false, brokeInSecond: 13 }]);
  });

  it('stops all of them after 30 s in which none had a message acknowledged', async () => {
    const sendings = [fakeSending(() => 'failed'), fakeSending(() => 'failed')];
    const { control } = await controlled(sendings);
    expect(control.stopped).toBe('errors-alone');
    for (const { stoppedAt } of sendings) expect([30, 31]).toContain(stoppedAt());
  });

  it('stops after 30 s in which requests failed that are to be sent again', async () => {
    const { control } = await controlled([fakeSending(() => 'failing')]);
    expect(control.stopped).toBe('errors-alone');
  });

  it('goes on while one of them has messages acknowledged', async () => {
    const sendings = [fakeSending(() => 'failed'), fakeSending(() => 'acknowledged')];
    const { control } = await controlled(sendings);
    expect(control.stopped).toBeUndefined();
    expect(sendings.map(({ stoppedAt }) => stoppedAt())).toEqual([undefined, undefined]);
  });

  it('ends with the error of one of them', async () => {
    const broken: FakeSending = {
      ...fakeSending(() => 'acknowledged'),
      part: () => Promise.reject(new Error('Worker 2 of the load ended')),
    };
    await expect(controlled([fakeSending(() => 'acknowledged'), broken])).rejects.toThrow('Worker 2');
  });
});
