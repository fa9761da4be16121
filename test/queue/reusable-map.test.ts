import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReusableMap } from '../../src/queue/reusable-map.ts';

/** Few keys, so that they repeat; `undefined` is a normal value. */
const key = fc.integer({ min: 0, max: 40 }).map((number) => `k${number}`);
const byText = (one: unknown, other: unknown): number => String(one).localeCompare(String(other));
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, value: fc.option(fc.nat(), { nil: undefined }) }),
  fc.record({ do: fc.constant('delete' as const), key }),
);

describe('ReusableMap', () => {
  it('has the same content as a Map after any sets and deletes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const map = new ReusableMap<number | undefined>();
        const model = new Map<string, number | undefined>();
        for (const each of steps) {
          if (each.do === 'set') {
            map.set(each.key, each.value);
            model.set(each.key, each.value);
          } else {
            map.delete(each.key);
            model.delete(each.key);
          }
          expect(map.size).toBe(model.size);
        }
        for (let number = 0; number <= 40; number++) {
          expect(map.get(`k${number}`)).toBe(model.get(`k${number}`));
          expect(map.has(`k${number}`)).toBe(model.has(`k${number}`));
        }
        expect([...map.values()].toSorted(byText)).toEqual([...model.values()].toSorted(byText));
      }),
    );
  });

  it('finds every one of many thousand keys, and none after their deletion', () => {
    const map = new ReusableMap<number>();
    const keys = Array.from({ length: 10_000 }, (_, index) => `user-${index}`);
    for (const [index, each] of keys.entries()) map.set(each, index);
    expect(keys.every((each, index) => map.get(each) === index)).toBe(true);
    for (const each of keys) map.delete(each);
    expect(map.size).toBe(0);
    expect(keys.some((each) => map.has(each))).toBe(false);
  });

  it('may be changed while its values are iterated', () => {
    const map = new ReusableMap<string>();
    for (const each of ['a', 'b', 'c']) map.set(each, each);
    const seen: string[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete(value);
    }
    expect(seen.toSorted(byText)).toEqual(['a', 'b', 'c']);
    expect(map.size).toBe(0);
  });
});
