import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildMessage } from '../../../src/message/build.ts';
import { messageSchema } from '../../../src/message/fields/json-schema.ts';
import { MESSAGE_TYPES } from '../../../src/message/types.ts';
import { FIELD_NAMES, json } from '../arbitraries.ts';

const isValid = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  messageSchema,
);

describe('messageSchema', () => {
  it.each(MESSAGE_TYPES)('accepts the fixture of %s', (type) => {
    const fixture: unknown = JSON.parse(
      readFileSync(new URL(`../../../fixtures/${type}.json`, import.meta.url), 'utf8'),
    );
    expect(isValid(fixture)).toBe(true);
  });

  it.each([
    {},
    { type: 'traq' },
    { type: 'track', userId: 'u' },
    { type: 'track', event: 'e' },
    { type: 'track', event: 'e', userId: null },
    { type: 'track', event: 'e', userId: '' },
    { type: 'track', event: 'e', userId: 5 },
    { type: 'track', event: 'e', userId: 'u', properties: [] },
    { type: 'track', event: 'e', userId: 'u', timestamp: '2026-11-20T21:10:05' },
    { type: 'track', event: 'e', userId: 'u', integrations: { A: 'yes' } },
    { type: 'track', event: 'e', userId: 'u', version: 2 },
    { type: 'screen', userId: 'u' },
    { type: 'alias', userId: 'u' },
    { type: 'alias', 'Previous ID': 'u' },
    { type: 'group', userId: 'u' },
    { type: 'delete', anonymousId: 'a' },
    [],
    'track',
  ])('rejects %j, as buildMessage does', (input) => {
    expect(isValid(input)).toBe(false);
    expect(isBuilt(input)).toBe(false);
  });

  it.each([
    { type: 'alias', 'Previous ID': 'a', 'User ID': 'b' },
    { type: 'alias', previousId: 'a', userId: 'b' },
    { type: 'page', anonymousId: 'a', userId: '' },
    { type: 'page', anonymousId: 'a', userId: null, traits: {}, custom: [1] },
    { type: 'track', event: 'e', userId: 'u', integrations: { All: false, A: { x: 1 } }, version: 1 },
    { type: 'track', event: 'e', userId: 'u', timestamp: '2026-11-20 21:10:05.123456+01:00' },
  ])('accepts %j, as buildMessage does', (input) => {
    expect(isValid(input)).toBe(true);
    expect(isBuilt(input)).toBe(true);
  });

  it('agrees with buildMessage on every mix of valid and invalid fields', () => {
    const values = fc.oneof(
      fc.constantFrom<unknown>('u', '', 5, null, {}, [], true, 1, { A: true }, { A: 1 }),
      fc.constantFrom('2026-11-20T21:10:05Z', '2026-11-20'),
      json,
    );
    const names = [...FIELD_NAMES, 'Previous ID'];
    const some = fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 3 });
    const right = { userId: 'u', event: 'e', name: 'n', groupId: 'g', previousId: 'p' };
    let built = 0;
    fc.assert(
      fc.property(fc.constantFrom(...MESSAGE_TYPES), some, fc.boolean(), (type, changes, isCompleted) => {
        const input = { ...(isCompleted ? right : {}), ...Object.fromEntries(changes), type };
        // A schema cannot express that the two spellings of an id must be equal.
        if ('previousId' in input && 'Previous ID' in input) return;
        built += isBuilt(input) ? 1 : 0;
        expect(isValid(input)).toBe(isBuilt(input));
      }),
      { numRuns: 3000 },
    );
    expect(built).toBeGreaterThan(100);
  });
});

function isBuilt(input: unknown): boolean {
  try {
    buildMessage(input, { now: 0 });
    return true;
  } catch {
    return false;
  }
}
