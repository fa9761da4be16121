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
    [{}, ['Webhooks', 'Backup']],
    [{ All: true }, ['Webhooks', 'Backup']],
    [{ All: false }, []],
    [{ All: false, Backup: true }, ['Backup']],
    [{ All: false, Backup: { key: 1 } }, ['Backup']],
    [{ Webhooks: false }, ['Backup']],
    [{ webhooks: false }, ['Webhooks', 'Backup']],
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

  it('makes ids that follow one another', () => {
    const next = createDeliveryIds();
    const ids = Array.from({ length: 100 }, () => next());
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(100);
  });
});

describe('dedupedId', () => {
  const lane = { source: 'web', destination: 'Webhooks' };

  it('is the same for the same name, source and destination, and another for any other', () => {
    const id = dedupedId(lane, 'm1');
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(dedupedId({ ...lane }, 'm1')).toBe(id);
    const others = [
      dedupedId(lane, 'm2'),
      dedupedId({ ...lane, source: 'app' }, 'm1'),
      dedupedId({ ...lane, destination: 'Other' }, 'm1'),
      // Halves of surrogate pairs, which UTF-8 makes alike.
      dedupedId(lane, '\ud800'),
      dedupedId(lane, '\ud801'),
    ];
    expect(new Set([id, ...others]).size).toBe(others.length + 1);
  });
});
