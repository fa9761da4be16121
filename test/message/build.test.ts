import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../src/errors.ts';
import { buildMessage, buildParsed } from '../../src/message/build.ts';
import { MESSAGE_TYPES, type JsonValue } from '../../src/message/types.ts';
import { FIELD_NAMES, json, object } from './arbitraries.ts';

const NOW = Date.UTC(2026, 10, 20, 21, 10, 5, 123);
const build = (input: unknown, strict = false) => buildMessage(input, { now: NOW, strict });
const track = (more: object): object => ({ type: 'track', event: 'Signup', userId: 'u1', ...more });

const TYPE = '`type` to be page, screen, identify, track, alias, group or delete';

const REJECTED: readonly [input: unknown, expected: string, hint?: string][] = [
  [5, 'a message to be a JSON object, got 5'],
  [null, 'a message to be a JSON object, got null'],
  [[], 'a message to be a JSON object, got an array'],
  [{}, `${TYPE}, got nothing`, 'give it as in "type": "track"'],
  [{ type: 'traq' }, `${TYPE}, got "traq"`, 'did you mean "track"?'],
  [{ type: 'TRACK' }, `${TYPE}, got "TRACK"`, 'did you mean "track"?'],
  [{ type: '__proto__' }, `${TYPE}, got "__proto__"`],
  [{ type: ['track'] }, `${TYPE}, got an array`],
  [
    { type: 'track', userId: 'u' },
    '`event` to be a non-empty string, got nothing (track)',
    'add it: what happened: "Order Completed"',
  ],
  [{ type: 'track', userId: 'u', event: null }, '`event` to be a non-empty string, got nothing (track)'],
  [{ type: 'track', userId: 'u', event: '' }, '`event` to be a non-empty string, got "" (track)'],
  [
    { type: 'track', event: 'Order Completed' },
    '`userId` or `anonymousId`, got neither (track "Order Completed")',
    'say whom the track is about',
  ],
  [track({ userId: 42 }), '`userId` to be a non-empty string, got 42 (track "Signup")', 'quote it: "42"'],
  [track({ userId: '' }), '`userId` or `anonymousId`, got neither (track "Signup")'],
  [
    track({ userId: 'u1', anonymousId: '' }),
    '`anonymousId` to be a non-empty string, got "" (track "Signup")',
  ],
  [track({ properties: 'x' }), '`properties` to be an object, got "x" (track "Signup")'],
  [track({ version: 2 }), '`version` to be 1, got 2 (track "Signup")', 'leave it out: it is added'],
  [track({ version: '1' }), '`version` to be 1, got "1" (track "Signup")'],
  [{ type: 'delete', userId: 'u', version: 2 }, '`version` to be 1, got 2 (delete)'],
  [
    track({ timestamp: '2026-02-30T00:00:00Z' }),
    '`timestamp` to be a date and time that exists, got "2026-02-30T00:00:00Z" (track "Signup")',
  ],
  [
    track({ timestamp: 1700000000000 }),
    '`timestamp` to be a date and time as text, got 1700000000000 (track "Signup")',
    'write it as 2026-11-20T21:10:05.123Z',
  ],
  [track({ integrations: [] }), '`integrations` to be an object, got an array (track "Signup")'],
  [
    track({ integrations: { Webhooks: 1 } }),
    '`integrations.Webhooks` to be true, false or an object, got 1 (track "Signup")',
    'true sends to that destination, false does not',
  ],
  [
    track({ integrations: { 'Google Ads': null } }),
    '`integrations["Google Ads"]` to be true, false or an object, got null (track "Signup")',
  ],
  [{ type: 'screen', userId: 'u' }, '`name` to be a non-empty string, got nothing (screen)'],
  [{ type: 'group', userId: 'u' }, '`groupId` to be a non-empty string, got nothing (group)'],
  [{ type: 'page', userId: 'u', name: 5 }, '`name` to be a string, got 5 (page)', 'quote it: "5"'],
  [
    { type: 'alias', userId: 'u' },
    '`previousId` (or `Previous ID`) to be a non-empty string, got nothing (alias)',
    'add it: the id that the user had',
  ],
  [
    { type: 'alias', previousId: 'u' },
    '`userId` (or `User ID`) to be a non-empty string, got nothing (alias)',
  ],
  [{ type: 'alias', previousId: 'p', 'User ID': 9 }, '`User ID` to be a non-empty string, got 9 (alias)'],
  [
    { type: 'alias', previousId: 'p', userId: 'a', 'User ID': 'b' },
    '`userId` and `User ID`, which are two spellings of one id, to be equal, got "a" and "b" (alias)',
    'give one of them',
  ],
  [{ type: 'delete', anonymousId: 'a' }, '`userId` to be a non-empty string, got nothing (delete)'],
];

describe('buildMessage', () => {
  describe('completes', () => {
    it('a message without a timestamp with the time of the call', () => {
      expect(build(track({})).timestamp).toBe('2026-11-20T21:10:05.123Z');
    });

    it('a timestamp by truncating the time of the call to milliseconds', () => {
      expect(buildMessage(track({}), { now: NOW + 0.9 }).timestamp).toBe('2026-11-20T21:10:05.123Z');
    });

    it.each(['page', 'screen', 'identify', 'track', 'group'])(
      'a %s without an id with an anonymous id',
      (type) => {
        const input = { type, name: 'n', event: 'e', groupId: 'g' };
        expect(buildMessage(input, { now: NOW, anonymousId: () => 'made' }).anonymousId).toBe('made');
      },
    );

    it('a message that has an id without adding another one', () => {
      expect(buildMessage(track({}), { now: NOW, anonymousId: unneeded })).not.toHaveProperty('anonymousId');
      const anonymous = { type: 'page', anonymousId: 'a' };
      expect(buildMessage(anonymous, { now: NOW, anonymousId: unneeded })).toHaveProperty('anonymousId', 'a');
    });

    it.each(['alias', 'delete'])('no %s with an anonymous id: it needs its ids', (type) => {
      const options = { now: NOW, anonymousId: () => 'made' };
      expect(() => buildMessage({ type }, options)).toThrow(ValidationError);
    });
  });

  describe('normalises', () => {
    it.each(['page', 'screen', 'identify', 'track', 'group'])(
      'a %s with an empty user id to one without a user id',
      (type) => {
        const input = { type, name: 'n', event: 'e', groupId: 'g', anonymousId: 'a' };
        const written = { ...input, userId: '' };
        expect(build(written)).toStrictEqual(build(input));
        expect(buildParsed(written, { now: NOW })).toStrictEqual(build(input));
        const made = buildMessage({ ...written, anonymousId: null }, { now: NOW, anonymousId: () => 'made' });
        expect(made).toStrictEqual({ ...build(input), anonymousId: 'made' });
      },
    );

    it('an empty new id of an alias to the id in its other spelling', () => {
      const alias = { type: 'alias', previousId: 'old' };
      expect(build({ ...alias, userId: '', 'User ID': 'new' })).toMatchObject({ userId: 'new' });
      expect(() => build({ ...alias, 'User ID': '' })).toThrow(/^Expected `userId` \(or `User ID`\)/);
    });

    it('a timestamp to UTC with milliseconds', () => {
      expect(build(track({ timestamp: '2026-11-20T22:10:05.9999+01:00' })).timestamp).toBe(
        '2026-11-20T21:10:05.999Z',
      );
      expect(build(track({ timestamp: new Date(0) })).timestamp).toBe('1970-01-01T00:00:00.000Z');
    });

    it.each([
      [{ previousId: 'old', userId: 'new' }],
      [{ 'Previous ID': 'old', 'User ID': 'new' }],
      [{ 'User ID': 'new', previousId: 'old' }],
      [{ 'Previous ID': 'old', previousId: 'old', userId: 'new', 'User ID': 'new' }],
      [{ 'Previous ID': null, previousId: 'old', userId: 'new' }],
    ])('the spelling of an alias: %j', (ids) => {
      expect(build({ type: 'alias', ...ids, timestamp: new Date(0) })).toEqual({
        type: 'alias',
        previousId: 'old',
        userId: 'new',
        timestamp: '1970-01-01T00:00:00.000Z',
      });
    });

    it("a page's name, category and traits to properties, which explicit properties override", () => {
      const message = build({
        type: 'page',
        userId: 'u',
        name: 'Home',
        category: 'Shop',
        traits: { url: 'https://a.example', name: 'of the traits', title: 'of the traits' },
        properties: { category: 'explicit', title: 'explicit' },
      });
      expect(message.properties).toEqual({
        category: 'explicit',
        title: 'explicit',
        name: 'Home',
        url: 'https://a.example',
      });
      expect(Object.keys(message)).toEqual(['type', 'userId', 'properties', 'timestamp']);
    });

    it('null to absence in the fields of its type, and keeps null in other fields', () => {
      const input = track({
        anonymousId: null,
        properties: null,
        context: null,
        integrations: null,
        version: null,
      });
      const message = build({ ...input, timestamp: null, receivedAt: null, custom: null });
      expect(message).toEqual({
        ...track({}),
        properties: {},
        receivedAt: null,
        custom: null,
        timestamp: message.timestamp,
      });
    });
  });

  it('drops fields that are never sent, except integrations', () => {
    const secret = { writeKey: 'k', sentAt: 'x', _metadata: {}, $schema: './message.json' };
    expect(build(track({ ...secret, version: 1, integrations: { All: false } }), true)).toEqual({
      ...track({ properties: {}, integrations: { All: false } }),
      timestamp: '2026-11-20T21:10:05.123Z',
    });
  });

  it('does not change its input', () => {
    const input = deepFreeze({
      type: 'page',
      userId: 'u',
      name: 'n',
      traits: { a: 1 },
      properties: { b: [new Date(0)] },
      timestamp: '2026-11-20T22:10:05+01:00',
    });
    expect(() => build(input)).not.toThrow();
  });

  it('keeps the other fields in the order of the input', () => {
    const message = build({
      zeta: 1,
      type: 'track',
      alpha: 2,
      event: 'e',
      messageId: 'm',
      userId: 'u',
      channel: 'server',
    });
    const others = Object.keys(message).filter((name) =>
      ['zeta', 'alpha', 'messageId', 'channel'].includes(name),
    );
    expect(others).toEqual(['zeta', 'alpha', 'messageId', 'channel']);
  });

  describe('rejects', () => {
    it.each(REJECTED)('%j', (input, sentence, hint) => {
      const [, name = ''] = /`([^`]*)`/.exec(sentence) ?? [];
      const path = name.includes(' ') && !name.includes('[') ? `["${name}"]` : name;
      const expected = {
        constructor: ValidationError,
        path,
        message: `Expected ${sentence}`,
        ...(hint === undefined ? {} : { hint }),
      };
      expect(() => build(input)).toThrow(expect.objectContaining(expected));
    });

    it('with the shortened actual value', () => {
      expect(() => build(track({ context: 'x'.repeat(100) }))).toThrow(
        expect.objectContaining({ got: `"${'x'.repeat(60)}…"` }),
      );
    });
  });

  describe('when strict', () => {
    it.each([
      [
        track({ propertys: {} }),
        'propertys',
        'Expected only fields of track messages, got `propertys` (track "Signup")',
        'did you mean `properties`?',
      ],
      [
        track({ traits: {} }),
        'traits',
        'Expected only fields of track messages, got `traits` (track "Signup")',
        'leave it out, or do not use strict',
      ],
      [
        { type: 'alias', userId: 'a', prevId: 'b' },
        'prevId',
        'Expected only fields of alias messages, got `prevId` (alias)',
        undefined,
      ],
    ])('rejects the unknown field of %j', (input, path, message, hint) => {
      const expected = { path, message, ...(hint !== undefined && { hint }) };
      expect(() => build(input, true)).toThrow(expect.objectContaining(expected));
      if (path !== 'prevId') expect(build(input)).toHaveProperty(path);
    });

    it.each(MESSAGE_TYPES)('knows what every client sends in a %s', (type) => {
      const own = {
        alias: { previousId: 'p' },
        group: { groupId: 'g', traits: {}, event: 'e' },
        track: { event: 'e', properties: {} },
        screen: { name: 's', category: 'c', properties: {} },
        page: { name: 'p', category: 'c', properties: {}, traits: {} },
        identify: { traits: {} },
        delete: {},
      }[type];
      const common = {
        userId: 'u',
        anonymousId: 'a',
        messageId: 'm',
        context: {},
        integrations: {},
        channel: 'server',
        receivedAt: 'x',
        originalTimestamp: 'x',
        sentAt: 'x',
        writeKey: 'k',
        _metadata: {},
        version: 1,
        $schema: 's',
      };
      expect(() => build({ type, ...own, ...common, timestamp: new Date(0) }, true)).not.toThrow();
    });
  });

  it('returns a message or throws a ValidationError with a path, for anything that JSON can hold', () => {
    const value = fc.oneof(json, fc.constantFrom('u', 'track', '2026-11-20T21:10:05Z', 1, null), object);
    const names = [...FIELD_NAMES, 'User ID'];
    const known = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
    const type = fc.oneof({ weight: 9, arbitrary: fc.constantFrom<unknown>(...MESSAGE_TYPES) }, json);
    const message = fc
      .tuple(type, known, object)
      .map(([kind, fields, others]) => ({ ...others, type: kind, ...fields }));
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: message }, json), fc.boolean(), (input, strict) => {
        try {
          expect(MESSAGE_TYPES).toContain(build(input, strict).type);
        } catch (error) {
          expect(error).toEqual(
            expect.objectContaining({ constructor: ValidationError, path: expect.any(String) as string }),
          );
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('buildParsed', () => {
  it('returns the same message as buildMessage', () => {
    const type = fc.constantFrom(...MESSAGE_TYPES);
    const message = fc
      .tuple(type, object, object)
      .map(([kind, fields, properties]) => ({ ...track({ properties, ...fields }), type: kind }));
    fc.assert(
      fc.property(fc.oneof(message, json), fc.boolean(), (input, strict) => {
        const parsed = JSON.parse(JSON.stringify(input)) as JsonValue;
        const made = outcomeOf(() => buildParsed(parsed, { now: NOW, strict }));
        expect(made).toEqual(outcomeOf(() => build(parsed, strict)));
      }),
    );
  });
});

function outcomeOf(make: () => unknown): unknown {
  try {
    return JSON.stringify(make());
  } catch (error) {
    return error;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

function unneeded(): never {
  return expect.unreachable('an id is made that nobody needs');
}
