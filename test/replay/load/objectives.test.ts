import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoadRecorder, type LoadEvent, type LoadSecond } from '../../../src/replay/load/load-recorder.ts';
import {
  evaluate,
  readObjectives,
  type LoadFigures,
  type Objective,
} from '../../../src/replay/load/objectives.ts';
import { judgeObjectives, stepResultOf, verdictOf } from '../../../src/replay/load/verdict.ts';

const FIGURES: LoadFigures = {
  latencyMs: (percent) => percent * 10,
  acknowledged: 998,
  errors: 2,
  rate: 197.5,
  lost: 3,
};

describe('objectives', () => {
  it.each([
    ['p99<1s', true, 990],
    ['p(99)<990ms', false, 990],
    ['p(99)<=990ms', true, 990],
    ['p99.9 < 1s', true, 999],
    ['p50>400ms', true, 500],
    ['max<1s', false, 1_000],
    ['max<=1s', true, 1_000],
    ['errors<0.1%', false, 0.2],
    ['errors<=0.2%', true, 0.2],
    ['errors=2', true, 2],
    ['errors<2', false, 2],
    ['rate>=195/s', true, 197.5],
    ['rate>200', false, 197.5],
    ['lost=0', false, 3],
    ['lost<1%', true, 0.301],
  ])('%s holds: %s, with the value %d', (expr, held, value) => {
    const [objective] = readObjectives(expr);
    expect(objective && evaluate(objective, FIGURES)).toEqual({ expr, held, value });
  });

  it.each([
    '',
    'p99',
    'p99<',
    'p0<1s',
    'p101<1s',
    'q99<5ms',
    'errors<x%',
    'errors<1.5',
    'rate>=fast',
    'p99==1s',
  ])('rejects %j, and shows an example', (text) => {
    expect(() => readObjectives(text)).toThrow(/Expected `--slo` to have an objective, got/);
  });

  it('asks for the unit of a latency', () => {
    expect(() => readObjectives('p99<5')).toThrow(
      expect.objectContaining({ hint: 'write 5ms for milliseconds, 5s for seconds' }),
    );
  });

  it.each(['errors<200%', 'errors<=100%', 'lost>=0', 'p50>=0ms', 'rate>=0/s', 'errors<0', 'errors>100%'])(
    'rejects %s, which holds always or never',
    (text) => {
      expect(() => readObjectives(text)).toThrow(/objectives that can hold and can break, got/);
    },
  );

  it('reads several, and names the one that is wrong', () => {
    expect(readObjectives('p99<250ms, errors<0.1%,lost=0').map(({ expr }) => expr)).toEqual([
      'p99<250ms',
      'errors<0.1%',
      'lost=0',
    ]);
    expect(() => readObjectives('p99<250ms,erors=0')).toThrow(/got erors=0/);
  });

  it('counts a rate of a load that ended before its time as broken', () => {
    for (const expr of ['rate>=1', 'rate<=1000']) {
      const [objective] = readObjectives(expr);
      const cut = { ...FIGURES, rate: undefined };
      expect(objective && evaluate(objective, cut)).toEqual({ expr, held: false, value: null });
    }
  });

  it.each(['p99<1s', 'errors=0', 'errors<1%', 'lost=0', 'lost<1%'])(
    'counts %s as broken when no message was sent',
    (expr) => {
      const [objective] = readObjectives(expr);
      const none = { latencyMs: () => undefined, acknowledged: 0, errors: 0, rate: 0, lost: 0 };
      expect(objective && evaluate(objective, none)).toEqual({ expr, held: false, value: null });
    },
  );

  it('break for every bound up to the value, and hold above it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), (ms) => {
        const [objective] = readObjectives(`p99<${ms}ms`);
        expect(objective && evaluate(objective, FIGURES).held).toBe(ms > 990);
      }),
    );
  });
});

interface Given {
  readonly dueAt: number;
  readonly latencyMs?: number;
  readonly behindMs?: number;
  readonly isAcknowledged?: boolean;
}

/** Records messages as a sender does, in the order of their times. */
function recorded(messages: readonly Given[], slo: string, { warmupMs = 0, sentMs = 10_000 } = {}) {
  const seconds: LoadSecond[] = [];
  const objectives = readObjectives(slo);
  const recorder = new LoadRecorder({
    objectives,
    warmupMs,
    durationMs: sentMs,
    onSecond: (second) => seconds.push(second),
  });
  const events = messages.flatMap(({ dueAt, latencyMs = 5, behindMs = 0, isAcknowledged = true }) => [
    { kind: 'sent' as const, at: dueAt, dueAt, ms: behindMs, serviceMs: 0 },
    {
      kind: isAcknowledged ? ('acknowledged' as const) : ('failed' as const),
      at: dueAt + latencyMs,
      dueAt,
      ms: latencyMs,
      serviceMs: latencyMs,
    },
  ]);
  for (const event of events.toSorted((a, b) => a.at - b.at)) {
    recorder.add(event);
    recorder.advance(event.at);
  }
  recorder.finish(sentMs);
  return { recorder, seconds, ...judged(objectives, recorder, sentMs) };
}

function judged(objectives: readonly Objective[], recorder: LoadRecorder, sentMs: number) {
  const judgedObjectives = judgeObjectives(objectives, recorder.figures(sentMs), recorder);
  return { verdict: stepResultOf(judgedObjectives), slo: judgedObjectives.slo };
}

/** Returns the seconds of a load of which the senders tell their events one after the other. */
function secondsOf(senders: readonly (readonly LoadEvent[])[]): LoadSecond[] {
  const seconds: LoadSecond[] = [];
  const onSecond = (second: LoadSecond): void => void seconds.push(second);
  const recorder = new LoadRecorder({ objectives: [], warmupMs: 500, durationMs: 3_000, onSecond });
  for (const events of senders) for (const event of events) recorder.add(event);
  recorder.finish(3_500);
  return seconds;
}

const steady = Array.from({ length: 1_000 }, (_, n): Given => ({ dueAt: n * 10 }));

/** Messages of which every twentieth is sent this late. */
function late(behindMs: number): Given[] {
  return steady.map((each, index) => ({ ...each, behindMs: index % 20 === 0 ? behindMs : 0 }));
}

/** Returns the rate of a load of 100 messages per second, of which each has this latency. */
function rateWith(latencyMs: (index: number) => number): number | undefined {
  const messages = steady.map((each, index) => ({ ...each, latencyMs: latencyMs(index) }));
  return recorded(messages, 'errors=0').recorder.figures(10_000).rate;
}

describe('the verdict of a load', () => {
  it('holds when every objective holds', () => {
    const { verdict, slo, seconds } = recorded(steady, 'p99<50ms,errors=0,rate>=99/s');
    expect(verdict).toBe('held');
    expect(slo.every(({ held }) => held)).toBe(true);
    expect(seconds.map(({ second }) => second)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(seconds.reduce((sum, { sent }) => sum + sent, 0)).toBe(1_000);
    expect(seconds.reduce((sum, { rate }) => sum + rate, 0)).toBe(1_000);
  });

  it('names the second in which a broken objective broke first', () => {
    const failing = steady.map((each) =>
      each.dueAt >= 4_000 && each.dueAt < 5_000 ? { ...each, isAcknowledged: false } : each,
    );
    const { verdict, slo } = recorded(failing, 'p99<50ms,errors<1%');
    expect(verdict).toBe('broken');
    expect(slo).toEqual([
      { expr: 'p99<50ms', held: true, value: expect.any(Number) as number },
      { expr: 'errors<1%', held: false, value: 10, brokeInSecond: 5 },
    ]);
  });

  it('is invalid when the sender was far behind, whatever the objectives say', () => {
    expect(recorded(late(1_500), 'errors=0').verdict).toBe('sender-bottleneck');
    expect(recorded(late(500), 'errors=0').verdict).toBe('held');
    expect(recorded(late(500), 'rate>=200/s').verdict).toBe('sender-bottleneck');
    expect(recorded(late(50), 'rate>=200/s').verdict).toBe('broken');
  });

  it('does not excuse errors by the delay of the sender', () => {
    const failing = late(500).map((each, index) => ({ ...each, isAcknowledged: index % 10 > 0 }));
    expect(recorded(failing, 'errors<1%').verdict).toBe('broken');
    expect(recorded(failing, 'errors<1%,rate>=100/s').verdict).toBe('sender-bottleneck');
  });

  it.each([
    ['the sender', 900, 'sender-bottleneck', 'sender-bottleneck'],
    ['the receiver', 100, 'broken', 'failed'],
  ])(
    'blames %s for messages that mostly waited for it, with and without objectives',
    (_who, ms, slo, plain) => {
      const objectives = readObjectives('errors<0.1%');
      const recorder = new LoadRecorder({ objectives, warmupMs: 0, durationMs: 3_000, onSecond: () => {} });
      for (let at = 0; at < 999; at++) {
        recorder.add({ kind: 'sent', at, dueAt: at, ms: 0, serviceMs: 0 });
        recorder.add({ kind: 'acknowledged', at, dueAt: at, ms: 1, serviceMs: 1 });
      }
      recorder.add({ kind: 'not-sent', at: 3_000, dueAt: 2_000, ms, serviceMs: 0 });
      recorder.finish(3_000);
      expect(judged(objectives, recorder, 3_000).verdict).toBe(slo);
      const { heldBack, total } = recorder;
      const none = judgeObjectives([], recorder.figures(3_000), recorder);
      const { acknowledged, errors: failed } = total.counts;
      const outcomes = { ...none, stopped: undefined, max: undefined, acknowledged, failed, heldBack };
      expect(verdictOf(outcomes)).toBe(plain);
    },
  );

  it('counts a message that could not be sent as an error with the time that it waited', () => {
    const objectives = readObjectives('max<1s,errors=0');
    const recorder = new LoadRecorder({ objectives, warmupMs: 0, durationMs: 3_000, onSecond: () => {} });
    recorder.add({ kind: 'not-sent', at: 3_000, dueAt: 500, ms: 0, serviceMs: 0 });
    recorder.finish(3_000);
    const { errors, notSent, sent } = recorder.total.counts;
    expect({ errors, notSent, sent }).toEqual({ errors: 1, notSent: 1, sent: 0 });
    const { verdict, slo } = judged(objectives, recorder, 3_000);
    expect(verdict).toBe('broken');
    expect(slo.map(({ value }) => Math.round(value ?? 0))).toEqual([expect.closeTo(2_500, -1) as number, 1]);
  });

  it('is invalid when the delay of the sender explains a broken objective', () => {
    const delayed = steady.map((each) => ({ ...each, behindMs: 40, latencyMs: 60 }));
    expect(recorded(delayed, 'p99<50ms').verdict).toBe('sender-bottleneck');
    expect(recorded(delayed, 'p99<70ms').verdict).toBe('held');
  });

  it('does not count what was due in the warm-up', () => {
    const { recorder } = recorded(steady, 'errors=0', { warmupMs: 2_000 });
    const { sent, acknowledged, errors } = recorder.total.counts;
    expect({ sent, acknowledged, errors }).toEqual({ sent: 800, acknowledged: 800, errors: 0 });
  });

  it('has a lower rate when the receiver acknowledges the rest late', () => {
    const slow = steady.map((each) => ({ ...each, latencyMs: each.dueAt + 10 }));
    const { recorder } = recorded(slow, 'errors=0');
    expect(recorder.figures(10_000).rate).toBeGreaterThan(49);
    expect(recorder.figures(10_000).rate).toBeLessThan(51);
  });

  it.each([
    ['one response comes before a stall', (index: number) => (index === 0 ? 1 : 2_000)],
    ['one response comes late', (index: number) => (index === 900 ? 5_000 : 5)],
    ['the receiver is slow by 2 s throughout', () => 2_000],
    [
      'the receiver stalls at the start and then catches up',
      (index: number) => Math.max(5, 2_000 - index * 10),
    ],
  ])('has the rate at which messages were due when %s', (_when, latencyMs) => {
    expect(rateWith(latencyMs)).toBeGreaterThanOrEqual(99.9);
    expect(rateWith(latencyMs)).toBeLessThanOrEqual(100);
  });

  it('measures the time of errors alone from the first error after an acknowledgement', () => {
    const recorder = new LoadRecorder({ objectives: [], warmupMs: 0, durationMs: 3_000, onSecond: () => {} });
    const settle = (at: number, isAcknowledged: boolean): void =>
      recorder.add({ kind: isAcknowledged ? 'acknowledged' : 'failed', at, dueAt: at, ms: 1, serviceMs: 1 });
    settle(1_000, false);
    expect(recorder.errorsAloneMs(5_000)).toBe(4_000);
    settle(6_000, true);
    expect(recorder.errorsAloneMs(9_000)).toBe(0);
    settle(10_000, false);
    settle(20_000, false);
    expect(recorder.errorsAloneMs(41_000)).toBe(31_000);
  });

  it('has the same seconds when several senders tell their events late and in turn', () => {
    const events = Array.from({ length: 350 }, (_, n) => n * 10).flatMap((dueAt): LoadEvent[] => [
      { kind: 'sent', at: dueAt, dueAt, ms: dueAt % 7, serviceMs: 0 },
      { kind: dueAt % 30 === 0 ? 'failed' : 'acknowledged', at: dueAt + 4, dueAt, ms: 4, serviceMs: 3 },
    ]);
    const [even, odd] = [0, 1].map((rest) => events.filter(({ dueAt }) => (dueAt / 10) % 2 === rest));
    const expected = secondsOf([events]);
    expect(expected.map(({ sent }) => sent)).toEqual([100, 100, 100]);
    expect(secondsOf([odd ?? [], even ?? []])).toEqual(expected);
    expect(secondsOf([even ?? [], odd ?? []])).toEqual(expected);
  });
});
