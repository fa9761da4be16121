import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap } from '../../../src/stores/memory/memory-lane.ts';

interface Item {
  readonly rank: number;
  place: number;
}

describe('Heap', () => {
  it('has the least item first, whatever is pushed and taken out of the middle', () => {
    const steps = fc.array(fc.oneof(fc.record({ push: fc.nat(40) }), fc.record({ take: fc.nat(40) })), {
      maxLength: 120,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const heap = new Heap<Item>((a, b) => a.rank < b.rank);
        const items: Item[] = [];
        for (const step of list) {
          if ('push' in step) {
            const item = { rank: step.push, place: -1 };
            items.push(item);
            heap.push(item);
          } else {
            const [taken] = items.splice(step.take, 1);
            if (taken !== undefined) heap.remove(taken);
            if (taken !== undefined) expect(taken.place).toBe(-1);
          }
          const ranks = items.map(({ rank }) => rank);
          expect(heap.first?.rank).toBe(ranks.length === 0 ? undefined : Math.min(...ranks));
          expect(new Set(items.map(({ place }) => place)).size).toBe(items.length);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
