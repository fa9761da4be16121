import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionBudget } from '../../../src/replay/load/connection-budget.ts';

function budgetOf(count: number, isOwnLimit = false): ConnectionBudget {
  return new ConnectionBudget({ count, isOwnLimit });
}

/** Sends as many of `count` messages as the budget allows at `now`. Returns how many. */
function sent(budget: ConnectionBudget, inFlight: number, now: number, count: number): number {
  let more = 0;
  while (more < count && budget.take(inFlight + more, now) === 'send') more++;
  return more;
}

describe('the connections of a load', () => {
  it('are at most the slots', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), (slots) => {
        const budget = budgetOf(slots);
        let inFlight = 0;
        for (let now = 0; now < 1_000; now++) inFlight += sent(budget, inFlight, now, 1_000);
        expect(inFlight).toBe(slots);
        expect(budget.take(inFlight, 1_000)).toBe('wait-for-receiver');
      }),
    );
  });

  it('grow by a burst, and then steadily, although no response comes', () => {
    const budget = budgetOf(100_000);
    let inFlight = sent(budget, 0, 0, 1_000);
    expect(inFlight).toBe(64);
    for (let now = 1; now <= 500; now++) inFlight += sent(budget, inFlight, now, 1_000);
    expect(inFlight).toBe(64 + 500 * 2);
  });

  it.each([
    [0, 0],
    [0.2, 40],
    [0.5, 250],
    [1, 1_000],
  ])('grow in the free time only: idle for %d of the time, by %d in 500 ms', (idleShare, more) => {
    const budget = budgetOf(100_000);
    budget.measured(idleShare);
    let inFlight = sent(budget, 0, 0, 1_000);
    for (let now = 1; now <= 500; now++) {
      budget.settled(now);
      inFlight += sent(budget, inFlight, now, 1_000);
    }
    expect(Math.abs(inFlight - 64 - more)).toBeLessThanOrEqual(1);
  });

  it('are used less and less by a busy sender, down to those of the start', () => {
    const budget = budgetOf(100_000);
    sent(budget, 0, 0, 1_000);
    for (let now = 1; now <= 200; now++) sent(budget, 64 + 2 * now, now, 1_000);
    budget.measured(0);
    const [before, after] = [sent(budget, 0, 200, 10_000), 64];
    for (let n = 0; n < 50; n++) budget.measured(0);
    expect(before).toBeGreaterThan(after);
    expect(sent(budget, 0, 200, 10_000)).toBe(after);
  });

  it('carry the next message as soon as a response came, without a new connection', () => {
    const budget = budgetOf(100_000);
    const inFlight = sent(budget, 0, 0, 1_000);
    for (let n = 0; n < 1_000; n++) {
      budget.settled(0);
      expect(budget.take(inFlight - 1, 0)).toBe('send');
    }
  });

  it('are missed because of the sender when its own limit allows no more', () => {
    const budget = budgetOf(10, true);
    const inFlight = sent(budget, 0, 0, 100);
    expect(inFlight).toBe(10);
    expect(budget.take(inFlight, 10_000)).toBe('wait-for-sender');
  });

  it('are missed because of a busy sender, however long no response came', () => {
    const budget = budgetOf(100_000);
    const inFlight = sent(budget, 0, 0, 1_000);
    budget.measured(0.05);
    expect(budget.take(inFlight, 101)).toBe('wait-for-sender');
  });

  it('are missed because of the receiver after a silence, and else because of the sender', () => {
    const budget = budgetOf(100_000);
    const inFlight = sent(budget, 0, 0, 1_000);
    budget.measured(0.1);
    expect(budget.take(inFlight, 0)).toBe('wait-for-sender');
    const later = inFlight + sent(budget, inFlight, 101, 1_000);
    expect(budget.take(later, 101)).toBe('wait-for-receiver');
    budget.settled(101);
    expect(budget.take(later, 101)).toBe('wait-for-sender');
    expect(budget.take(later - 1, 101)).toBe('send');
  });
});
