import { describe, expect, it } from 'vitest';
import { createDeliveryIds, onceId } from '../../src/engine/delivery-ids.ts';

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

describe('onceId', () => {
  const lane = { source: 'web', destination: 'Webhooks' };

  it('is the same for the same name, source and destination, and another for any other', () => {
    const id = onceId(lane, 'm1');
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(onceId({ ...lane }, 'm1')).toBe(id);
    const others = [
      onceId(lane, 'm2'),
      onceId({ ...lane, source: 'app' }, 'm1'),
      onceId({ ...lane, destination: 'Other' }, 'm1'),
      // Halves of surrogate pairs, which UTF-8 makes alike.
      onceId(lane, '\ud800'),
      onceId(lane, '\ud801'),
    ];
    expect(new Set([id, ...others]).size).toBe(others.length + 1);
  });
});
