import { describe, expect, it } from 'vitest';
import { LatencyComparison } from '../../../src/replay/compare/latency-comparison.ts';
import { randomFrom } from '../../random.ts';

const CONCURRENCY = 8;

interface Simulated {
  readonly messages: number;
  readonly old: (index: number) => number;
  readonly next: (index: number) => number;
  readonly title?: (index: number) => string;
}

/** Sends a message every 5 ms, whatever its latency. */
function compared({ messages, old, next, title = () => 'track' }: Simulated): LatencyComparison {
  const latency = new LatencyComparison(CONCURRENCY);
  const ends: { readonly at: number; readonly end: () => void }[] = [];
  for (let index = 0; index < messages; index++) {
    const now = index * 5;
    for (const { end } of ends.filter(({ at }) => at <= now)) end();
    ends.splice(0, ends.length, ...ends.filter(({ at }) => at > now));
    const ms = { old: old(index), new: next(index) };
    ends.push({ at: now + Math.max(ms.old, ms.new), end: () => latency.add(title(index), ms) });
  }
  for (const { end } of ends) end();
  return latency;
}

function oneSlow(): LatencyComparison {
  return compared({ messages: 300, old: () => 8, next: (index) => (index === 77 ? 1_500 : 8) });
}

describe('the comparison of latencies', () => {
  it('finds a slower median, of all messages or of one event', () => {
    const all = compared({ messages: 100, old: () => 12, next: () => 340 }).differences();
    expect(all).toMatchObject([{ kind: 'median', title: undefined, messages: 100 }]);
    expect(all[0]?.old).toBeCloseTo(12, -1);
    expect(all[0]?.new).toBeGreaterThan(320);
    const ofOneEvent = compared({
      messages: 200,
      old: () => 10,
      next: (index) => (index % 5 === 0 ? 300 : 10),
      title: (index) => (index % 5 === 0 ? 'track "Signup"' : 'identify'),
    });
    expect(ofOneEvent.differences()).toMatchObject([
      { kind: 'median', title: 'track "Signup"', messages: 40 },
    ]);
  });

  it('finds a receiver that becomes faster', () => {
    const found = compared({ messages: 50, old: () => 900, next: () => 20 }).differences();
    expect(found).toMatchObject([{ kind: 'median' }]);
  });

  it('finds single slow responses of a receiver that responds to others meanwhile', () => {
    const latency = compared({
      messages: 4_000,
      old: () => 8,
      next: (index) => (index % 100 === 7 ? 400 : 8),
    });
    expect(latency.differences()).toMatchObject([{ kind: 'slow', old: 0, new: 40 }]);
  });

  it('finds one slow message if it is slow each time that it is sent alone', () => {
    const slow = { old: 8, new: 1_500 };
    const latency = oneSlow();
    expect(latency.differences()).toEqual([]);
    expect(latency.slowSideOf(slow)).toBe('new');
    expect(latency.confirm('track', 'new', [slow, slow, slow])).toBe(true);
    expect(latency.differences()).toMatchObject([
      { kind: 'single', title: 'track', ...slow, slow: 1, messages: 300 },
    ]);
    const paused = oneSlow();
    expect(paused.confirm('track', 'new', [slow, { old: 8, new: 9 }])).toBe(false);
    expect(paused.differences()).toEqual([]);
  });

  it('finds nothing in too few messages, in small differences and in a factor below three', () => {
    expect(compared({ messages: 19, old: () => 10, next: () => 500 }).differences()).toEqual([]);
    expect(compared({ messages: 500, old: () => 1, next: () => 40 }).differences()).toEqual([]);
    expect(compared({ messages: 500, old: () => 200, next: () => 500 }).differences()).toEqual([]);
  });

  it('finds nothing on a busy machine, whose pauses delay all messages in flight', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomFrom(seed);
      const pauses = { old: new Map<number, number>(), new: new Map<number, number>() };
      // Either many pauses of both receivers, or a few that hit one of them.
      const [count, share] = seed % 2 === 0 ? [30, 0.5] : [5, 1];
      for (let pause = 0; pause < count; pause++) {
        const [first, ms] = [Math.floor(random() * 3_000), 60 + random() * 800];
        const hit = pauses[random() < share ? 'old' : 'new'];
        for (let later = 0; later < CONCURRENCY; later++) hit.set(first + later, ms - later * 5);
      }
      const jitter = (): number => 2 + random() * 30;
      const found = compared({
        messages: 3_000,
        old: (index) => pauses.old.get(index) ?? jitter(),
        next: (index) => pauses.new.get(index) ?? jitter(),
      }).differences();
      expect(found, `seed ${seed}`).toEqual([]);
    }
  });
});
