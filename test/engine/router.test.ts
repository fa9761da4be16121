import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS, type DestinationOptions, type SourceOptions } from '../../src/engine/options.ts';
import { createDeliveryIds, dedupedId, enabledDestinations } from '../../src/engine/router.ts';

function destination(enabled: boolean): DestinationOptions {
  return { enabled, sharedSecrets: [], webhooks: [], delivery: DELIVERY_DEFAULTS };
}

const SOURCE: SourceOptions = {
  destinations: { Webhooks: destination(true), Backup: destination(true), Off: destination(false) },
};

describe('enabledDestinations', () => {
  it.each([
    [undefined, ['Webhooks', 'Backup']],
    [{ All: false, Backup: true }, ['Backup']],
    [{ Webhooks: false }, ['Backup']],
    [{ Off: true, Unknown: true }, ['Webhooks', 'Backup']],
  ])('with integrations %j goes to %j', (integrations, names) => {
    expect(enabledDestinations(SOURCE, integrations)).toEqual(names);
  });
});

describe('createDeliveryIds', () => {
  it('makes ids that a command line cannot take for flags', () => {
    const firsts = Array.from({ length: 2_000 }, () => createDeliveryIds()());
    expect(firsts.filter((id) => !/^[0-9a-z][0-9a-z-]*$/.test(id))).toEqual([]);
    expect(new Set(firsts).size).toBe(2_000);
  });

  it('makes consecutive ids', () => {
    const next = createDeliveryIds();
    const ids = Array.from({ length: 100 }, () => next());
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(100);
  });
});

describe('dedupedId', () => {
  const lane = { source: 'web', destination: 'Webhooks' };

  it('depends only on the key, the source and the destination', () => {
    const id = dedupedId(lane, 'm1');
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(dedupedId({ ...lane }, 'm1')).toBe(id);
    const others = [
      dedupedId(lane, 'm2'),
      dedupedId({ ...lane, source: 'app' }, 'm1'),
      dedupedId({ ...lane, destination: 'Other' }, 'm1'),
      // Halves of surrogate pairs, which are equal in UTF-8.
      dedupedId(lane, '\ud800'),
      dedupedId(lane, '\ud801'),
    ];
    expect(new Set([id, ...others]).size).toBe(others.length + 1);
  });
});
