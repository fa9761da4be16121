import { describe, expect, it } from 'vitest';
import { isEnabled } from '../../src/message/integrations.ts';
import type { Integrations } from '../../src/message/types.ts';

describe('isEnabled', () => {
  it.each<[Integrations | undefined, string, boolean]>([
    [undefined, 'Webhooks', true],
    [{}, 'Webhooks', true],
    [{ Webhooks: false }, 'Webhooks', false],
    [{ Webhooks: false }, 'Other', true],
    [{ All: false }, 'Webhooks', false],
    [{ All: false, Webhooks: true }, 'Webhooks', true],
    [{ All: false, Webhooks: { key: 'x' } }, 'Webhooks', true],
    [{ All: false, Webhooks: {} }, 'Webhooks', true],
    [{ All: false, webhooks: true }, 'Webhooks', false],
    [{ all: false }, 'Webhooks', true],
    [{ All: true, Webhooks: false }, 'Webhooks', false],
    [{ All: {} }, 'Webhooks', true],
    [{}, 'constructor', true],
    [{ All: false }, 'constructor', false],
    [{ All: false }, '__proto__', false],
  ])('of %j answers for %s: %s', (integrations, name, enabled) => {
    expect(isEnabled(integrations, name)).toBe(enabled);
  });
});
