import { describe, expect, it } from 'vitest';
import { createDeliveryIds } from '../../src/engine/delivery-ids.ts';

describe('createDeliveryIds', () => {
  it('makes ids that a command line cannot take for flags', () => {
    const firsts = Array.from({ length: 2_000 }, () => createDeliveryIds()());
    expect(firsts.filter((id) => !/^[0-9a-z][0-9a-z-]*$/.test(id))).toEqual([]);
    expect(new Set(firsts).size).toBe(2_000);
  });

  it('makes ids that follow one another', () => {
    const next = createDeliveryIds();
    const ids = Array.from({ length: 100 }, () => next());
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(100);
  });
});
