import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS, type DestinationOptions, type SourceOptions } from '../../src/engine/options.ts';
import { route } from '../../src/engine/route.ts';

function destination(enabled: boolean): DestinationOptions {
  return { enabled, sharedSecrets: [], webhooks: [], delivery: DELIVERY_DEFAULTS };
}

const SOURCE: SourceOptions = {
  destinations: { Webhooks: destination(true), Backup: destination(true), Off: destination(false) },
};

describe('route', () => {
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
    expect(route(SOURCE, integrations)).toEqual(names);
  });
});
