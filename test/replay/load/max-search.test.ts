import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  continueSearch,
  foundRate,
  SEARCH_START,
  type StepResult,
} from '../../../src/replay/load/max-search.ts';

/** Runs a search against a receiver that is a function of the rate. Returns the found rate, and the rates that were tried. */
function searched(resultOf: (rate: number, step: number) => StepResult) {
  let search = SEARCH_START;
  const rates: number[] = [];
  while (search.next !== undefined) {
    if (rates.length > 100) throw new Error(`Expected the search to end, tried ${rates.join(' ')}`);
    rates.push(search.next.rate);
    search = continueSearch(search, resultOf(search.next.rate, rates.length));
  }
  return { found: foundRate(search), rates, search };
}

describe('the search for the highest rate', () => {
  it('finds the limit of a receiver within 5 %, in less than 24 steps', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (limit) => {
        const { found, rates } = searched((rate) => (rate <= limit ? 'held' : 'broken'));
        expect(found).toBeLessThanOrEqual(limit);
        expect(found).toBeGreaterThan(limit * 0.95 - 0.5);
        expect(rates.length).toBeLessThan(25);
      }),
    );
  });

  it('doubles the rate until it breaks, then halves the difference, then confirms', () => {
    const { rates } = searched((rate) => (rate <= 300 ? 'held' : 'broken'));
    expect(rates).toEqual([50, 100, 200, 400, 300, 350, 325, 313, 307, 300]);
  });

  it('ends with a rate that held last, when a receiver let a burst pass', () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 5_000 }), fc.integer({ min: 0, max: 20 }), (limit, lucky) => {
        const { found } = searched((rate, step) => (rate <= limit || step === lucky ? 'held' : 'broken'));
        expect(found).toBeLessThanOrEqual(limit * 2);
        expect(found).toBeGreaterThan(limit / 2 - 1);
      }),
    );
  });

  it('finds no rate when every rate breaks', () => {
    expect(searched(() => 'broken').found).toBe(0);
  });

  it('ends where the sender is the limit', () => {
    const { found, search } = searched((rate) => (rate <= 800 ? 'held' : 'invalid'));
    expect(found).toBe(800);
    expect(search.isSenderLimited).toBe(true);
  });

  it('repeats a step for which the sender was the limit once', () => {
    const { found, search } = searched((rate, step) =>
      step === 3 ? 'invalid' : rate <= 300 ? 'held' : 'broken',
    );
    expect(found).toBe(300);
    expect(search.isSenderLimited).toBe(false);
  });

  it('does not raise the rate forever', () => {
    expect(searched(() => 'held').found).toBe(1_000_000);
  });
});
