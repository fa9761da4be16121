import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchHighest, type StepResult } from '../../../src/replay/load/max-search.ts';

/** Runs a search against a receiver that is a function of the rate. Returns its result, and the rates that were tried. */
async function searched(resultOf: (rate: number, step: number) => StepResult | undefined, least = 0) {
  const rates: number[] = [];
  const search = await searchHighest((rate) => {
    if (rates.length > 100) throw new Error(`Expected the search to end, tried ${rates.join(' ')}`);
    rates.push(rate);
    return Promise.resolve(resultOf(rate, rates.length));
  }, least);
  return { found: search.rate, rates, search };
}

describe('the search for the highest rate', () => {
  it('finds the limit of a receiver within 5 %, in less than 24 steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100_000 }), async (limit) => {
        const { found, rates } = await searched((rate) => (rate <= limit ? 'held' : 'broken'));
        expect(found).toBeLessThanOrEqual(limit);
        expect(found).toBeGreaterThan(limit * 0.95 - 0.5);
        expect(rates.length).toBeLessThan(25);
      }),
    );
  });

  it('doubles the rate until it breaks, then halves the difference, then confirms', async () => {
    const { rates } = await searched((rate) => (rate <= 300 ? 'held' : 'broken'));
    expect(rates).toEqual([50, 100, 200, 400, 300, 350, 325, 313, 307, 300]);
  });

  it('ends with a rate that held last, when a receiver let a burst pass', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 60, max: 5_000 }),
        fc.integer({ min: 0, max: 20 }),
        async (limit, lucky) => {
          const { found } = await searched((rate, step) =>
            rate <= limit || step === lucky ? 'held' : 'broken',
          );
          expect(found).toBeLessThanOrEqual(limit * 2);
          expect(found).toBeGreaterThan(limit / 2 - 1);
        },
      ),
    );
  });

  it('starts at the least rate that can hold, and finds no rate if that one breaks', async () => {
    const { found, rates } = await searched((rate) => (rate <= 1_000 ? 'held' : 'broken'), 300);
    expect(rates.slice(0, 3)).toEqual([300, 600, 1_200]);
    expect(found).toBeGreaterThan(950);
    const none = await searched((rate) => (rate < 300 ? 'held' : 'broken'), 300);
    expect({ found: none.found, rates: none.rates }).toEqual({ found: 0, rates: [300] });
  });

  it('finds no rate when every rate breaks', async () => {
    expect((await searched(() => 'broken')).found).toBe(0);
  });

  it('ends where the sender is the limit', async () => {
    const { found, search } = await searched((rate) => (rate <= 800 ? 'held' : 'sender-bottleneck'));
    expect(found).toBeNull();
    expect(search.reached).toBe(800);
    expect(search.isSenderLimited).toBe(true);
  });

  it('repeats a step for which the sender was the limit once', async () => {
    const { found, search } = await searched((rate, step) =>
      step === 3 ? 'sender-bottleneck' : rate <= 300 ? 'held' : 'broken',
    );
    expect(found).toBe(300);
    expect(search.isSenderLimited).toBe(false);
  });

  it.each([
    ['while the rate doubles', [], 200, false],
    ['before the confirmation', ['broken', 'broken'], 200, false],
    ['after a step for which the sender was the limit', ['sender-bottleneck'], 200, true],
  ] as const)('has no result when its time ends %s', async (_when, results, reached, isSenderLimited) => {
    const { search } = await searched((rate, step) => (rate <= 200 ? 'held' : results[step - 4]));
    expect(search).toEqual({ rate: null, reached, isSenderLimited });
  });

  it('does not raise the rate forever', async () => {
    expect((await searched(() => 'held')).found).toBe(1_000_000);
  });
});
