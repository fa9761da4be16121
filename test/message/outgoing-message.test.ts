import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildMessage } from '../../src/message/build.ts';
import { readJson } from '../../src/message/json/read-json.ts';
import { encodeBody, toBody, orderKeysOf, isEnabled } from '../../src/message/outgoing-message.ts';
import type { Integrations } from '../../src/message/types.ts';
import { json, object, record } from './arbitraries.ts';

const body = (input: object): string =>
  encodeBody(buildMessage({ timestamp: new Date(0), ...input }, { now: 0 }));
const AT = '"timestamp":"1970-01-01T00:00:00.000Z"';

describe('encodeBody', () => {
  it.each([
    [
      { properties: { b: 1, a: 2 }, userId: 'u', type: 'page' },
      `{"version":1,"type":"page","userId":"u","properties":{"b":1,"a":2},${AT}}`,
    ],
    [
      { context: { os: {} }, name: 'Home', userId: 'u', type: 'screen' },
      `{"version":1,"type":"screen","userId":"u","name":"Home",${AT},"context":{"os":{}}}`,
    ],
    [
      { traits: { plan: 'pro' }, userId: 'u', type: 'identify' },
      `{"version":1,"type":"identify","userId":"u","traits":{"plan":"pro"},${AT}}`,
    ],
    [
      { properties: { a: [1] }, event: 'e', userId: 'u', type: 'track' },
      `{"version":1,"type":"track","userId":"u","event":"e","properties":{"a":[1]},${AT}}`,
    ],
    [
      { userId: 'new', previousId: 'old', type: 'alias' },
      `{"version":1,"type":"alias","Previous ID":"old","User ID":"new",${AT}}`,
    ],
    [
      { traits: { size: 3 }, userId: 'u', groupId: 'g', type: 'group' },
      `{"version":1,"type":"group","groupId":"g","userId":"u","traits":{"size":3},${AT}}`,
    ],
    [{ userId: 'u', version: 1, type: 'delete' }, `{"type":"delete","userId":"u",${AT}}`],
    // A missing object of the row is written as {}.
    [{ type: 'page', userId: 'u' }, `{"version":1,"type":"page","userId":"u","properties":{},${AT}}`],
    [
      { type: 'screen', userId: 'u', name: 's' },
      `{"version":1,"type":"screen","userId":"u","name":"s",${AT},"context":{}}`,
    ],
    [{ type: 'identify', userId: 'u' }, `{"version":1,"type":"identify","userId":"u","traits":{},${AT}}`],
    [
      { type: 'track', userId: 'u', event: 'e' },
      `{"version":1,"type":"track","userId":"u","event":"e","properties":{},${AT}}`,
    ],
    [
      { type: 'group', userId: 'u', groupId: 'g' },
      `{"version":1,"type":"group","groupId":"g","userId":"u","traits":{},${AT}}`,
    ],
  ])('writes exactly the row of %j, in its order', (input, text) => {
    expect(body(input)).toBe(text);
  });

  it('puts the anonymous id in place of the user id, or right after it', () => {
    expect(body({ anonymousId: 'a', type: 'track', event: 'e' })).toBe(
      `{"version":1,"type":"track","anonymousId":"a","event":"e","properties":{},${AT}}`,
    );
    expect(body({ anonymousId: 'a', type: 'group', groupId: 'g', userId: 'u' })).toBe(
      `{"version":1,"type":"group","groupId":"g","userId":"u","anonymousId":"a","traits":{},${AT}}`,
    );
    expect(body({ anonymousId: 'a', type: 'delete', userId: 'u' })).toBe(
      `{"type":"delete","userId":"u","anonymousId":"a",${AT}}`,
    );
  });

  it('writes other fields after the row in their own order, then the context', () => {
    const input = {
      context: { ip: '::1' },
      receivedAt: 'r',
      type: 'group',
      groupId: 'g',
      event: 'Joined',
      userId: 'u',
      messageId: 'm',
      channel: 'server',
    };
    expect(body(input)).toBe(
      `{"version":1,"type":"group","groupId":"g","userId":"u","traits":{},${AT},"receivedAt":"r","event":"Joined","messageId":"m","channel":"server","context":{"ip":"::1"}}`,
    );
  });

  it("puts a screen's context last, after its properties", () => {
    expect(body({ type: 'screen', name: 's', userId: 'u', context: { a: 1 }, properties: { b: 2 } })).toBe(
      `{"version":1,"type":"screen","userId":"u","name":"s",${AT},"properties":{"b":2},"context":{"a":1}}`,
    );
  });

  it('never sends integrations, writeKey, sentAt, _metadata and $schema', () => {
    const unsent = { integrations: { All: true }, writeKey: 'k', sentAt: 's', _metadata: {}, $schema: 'x' };
    expect(body({ type: 'identify', userId: 'u', ...unsent })).toBe(body({ type: 'identify', userId: 'u' }));
    const message = { ...buildMessage({ type: 'identify', userId: 'u' }, { now: 0 }), ...unsent };
    expect(Object.keys(toBody(message))).toEqual(['version', 'type', 'userId', 'traits', 'timestamp']);
  });

  it.each([
    ['integer-like keys', '{"b":1,"1":2,"0":3}'],
    ['a __proto__ key', '{"__proto__":{"a":1},"z":1}'],
    ['a negative zero', '[-0,0.0]'],
    ['half of a surrogate pair', '"\\ud800"'],
    ['line separators', '"\u2028\\u2029"'],
    ['spellings of a number', '[1e21,1E2,1.50,5e-324]'],
  ])('is a fixed point with %s', (_, text) => {
    const value = readJson(Buffer.from(text));
    const written = body({
      type: 'track',
      event: 'e',
      userId: 'u',
      properties: { value },
      extra: value,
      ...(value as object),
    });
    expect(JSON.stringify(JSON.parse(written))).toBe(written);
  });

  it('is a fixed point, and in UTF-8 too, for anything that JSON can hold', () => {
    fc.assert(
      fc.property(object, record(json), (others, properties) => {
        const written = encode({ ...others, type: 'track', event: 'e', userId: 'u', properties });
        expect(JSON.stringify(JSON.parse(written))).toBe(written);
        expect(Buffer.from(written).toString()).toBe(written);
      }),
    );
  });

  it('loses no field of the input', () => {
    fc.assert(
      fc.property(object, object, object, (others, properties, context) => {
        const input = { ...others, type: 'track', event: 'e', userId: 'u', properties, context };
        const written = new Map(Object.entries(JSON.parse(encode(input)) as object));
        for (const [name, value] of Object.entries(input)) {
          expect(JSON.stringify(written.get(name))).toBe(JSON.stringify(value));
        }
        expect(written.size).toBe(Object.keys(input).length + ['version', 'timestamp'].length);
      }),
    );
  });
});

/** Converts JSON to the text of the body via its bytes, like a replay. */
function encode(input: object): string {
  return encodeBody(buildMessage(readJson(Buffer.from(JSON.stringify(input))), { now: 0 }));
}

describe('orderKeysOf', () => {
  it.each([
    [{ type: 'track', event: 'e', userId: 'u', anonymousId: 'a' }, ['u']],
    [{ type: 'page', anonymousId: 'a' }, ['a']],
    [{ type: 'alias', previousId: 'old', userId: 'new' }, ['old', 'new']],
    [{ type: 'alias', 'Previous ID': 'old', 'User ID': 'new' }, ['old', 'new']],
    [{ type: 'alias', previousId: 'same', userId: 'same' }, ['same']],
    [{ type: 'track', event: 'e', userId: 'u', previousId: 'no alias' }, ['u']],
  ])('returns the order keys of %j: %j', (input, keys) => {
    expect(orderKeysOf(buildMessage(input, { now: 0 }))).toEqual(keys);
  });
});

describe('isEnabled', () => {
  it.each<[Integrations | undefined, string, boolean]>([
    [undefined, 'Webhooks', true],
    [{}, 'Webhooks', true],
    [{ Webhooks: false }, 'Webhooks', false],
    [{ Webhooks: false }, 'Other', true],
    [{ All: false }, 'Webhooks', false],
    [{ All: false, Webhooks: true }, 'Webhooks', true],
    [{ All: false, Webhooks: { key: 'x' } }, 'Webhooks', true],
    [{ All: false, webhooks: true }, 'Webhooks', false],
    [{ all: false }, 'Webhooks', true],
    [{ All: true }, 'Webhooks', true],
    [{ webhooks: false }, 'Webhooks', true],
    [{ All: true, Webhooks: false }, 'Webhooks', false],
    [{ All: {} }, 'Webhooks', true],
    [{}, 'constructor', true],
    [{ All: false }, 'constructor', false],
    [{ All: false }, '__proto__', false],
  ])('of %j responses for %s: %s', (integrations, name, enabled) => {
    expect(isEnabled(integrations, name)).toBe(enabled);
  });
});
