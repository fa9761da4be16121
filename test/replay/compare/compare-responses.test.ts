import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareResponses } from '../../../src/replay/compare/compare-responses.ts';
import { NoiseModel } from '../../../src/replay/compare/noise-model.ts';
import { differences, ENTRY, kinds, NOW, responded, type Responded } from './compared.ts';

const RESET = { kind: 'none', error: 'reset', detail: 'the connection was closed' } as const;

describe('the difference of two responses', () => {
  it.each([
    ['a missing field', { a: 1, b: 2 }, { a: 1 }, 'body $.b: number → missing'],
    ['a further field', { a: 1 }, { a: 1, b: { c: 1 } }, 'body $.b: missing → object'],
    ['another type', { total: 42 }, { total: '42' }, 'body $.total: number → text'],
    ['null', { total: 42 }, { total: null }, 'body $.total: number → null'],
    ['another amount', { total: 42 }, { total: 42.01 }, 'body $.total: number → number'],
    ['another word', { status: 'paid' }, { status: 'open' }, 'body $.status: text → text'],
    ['a word in place of an id', { id: randomUUID() }, { id: 'undefined' }, 'body $.id: uuid → text'],
    ['an empty text', { id: randomUUID() }, { id: '' }, 'body $.id: uuid → empty text'],
    ['another key', { 'a b': 1 }, { 'a b': 2 }, 'body $["a b"]: number → number'],
    ['a field of items', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: '2' }], 'body $[*].a: number → text'],
    ['the order of items', { items: ['a', 'b'] }, { items: ['b', 'a'] }, 'body $.items: order → other order'],
    ['the number of items', { items: [1, 2] }, { items: [1] }, 'body $.items.length: number → number'],
    ['an object in place of items', { items: [] }, { items: {} }, 'body $.items: array → object'],
    ['text in place of JSON', { a: 1 }, '<p>', 'body: JSON → text'],
    ['no body', { a: 1 }, '', 'body: JSON → empty'],
    ['another text', 'Thanks', 'Welcome', 'body text: text → text'],
    ['another word', 'Thanks, 3 items', 'Thanks, 4 items', 'body text.word3: text → text'],
    [
      'a number that JavaScript cannot represent',
      '12345678901234567890',
      '12345678901234567891',
      'body text: text → text',
    ],
  ])('names %s', (_, old, next, kind) => {
    expect(kinds(old, next)).toEqual([kind]);
  });

  it('names status and connection, without what follows from them', () => {
    expect(kinds(responded({ a: 1 }), responded('boom', { status: 500 }))).toEqual(['status: 200 → 500']);
    expect(kinds(responded({ a: 1 }), responded('', { status: 204 }))).toEqual(['status: 200 → 204']);
    expect(kinds(responded({ a: 1 }), responded({ a: 2 }, { status: 201 }))).toEqual([
      'status: 200 → 201',
      'body $.a: number → number',
    ]);
    const context = {
      isEchoed: () => false,
      now: NOW,
      noise: new NoiseModel(),
      ignores: () => false,
      entry: ENTRY,
    };
    expect(compareResponses(responded(''), RESET, context)).toMatchObject([
      { what: 'connection', from: 'response', to: 'reset', new: 'reset: the connection was closed' },
    ]);
    expect(compareResponses(RESET, RESET, context)).toEqual([]);
  });

  it('compares headers, without those of the connection and the values of cookies', () => {
    const old = {
      'content-type': 'application/json;charset=UTF-8',
      date: 'a',
      server: 'a',
      'set-cookie': ['s=1; Path=/'],
    };
    const same = {
      'content-type': 'application/json; charset=utf-8',
      date: 'b',
      'set-cookie': ['s=2;path=/'],
    };
    expect(differences(responded({}, { headers: old }), responded({}, { headers: same }))).toEqual([]);
    const other = { 'content-type': 'text/html', 'x-limit': '5' };
    expect(kinds(responded({}, { headers: old }), responded({}, { headers: other }))).toEqual([
      'header content-type: text → text',
      'header set-cookie: text → missing',
      'header x-limit: missing → text',
    ]);
  });

  it('compares the attributes of cookies, without values and times', () => {
    const old = cookie('sid=1; Expires=Sat, 28 Nov 2026 12:00:00 GMT; HttpOnly; Secure; SameSite=Strict');
    const same = 'sid=2; samesite=strict; secure; httponly; expires=Sun, 29 Nov 2026 12:00:00 GMT';
    expect(kinds(old, cookie(same))).toEqual([]);
    expect(differences(old, cookie('sid=1'))).toMatchObject([{ path: 'set-cookie', new: '"sid"' }]);
    expect(JSON.stringify(differences(old, cookie('t0ken; Secure')))).not.toContain('t0ken');
  });

  it('names the encoding of a compressed body in place of its bytes', () => {
    const headers = { 'content-encoding': 'gzip' };
    const packed = responded(gzipSync('{"a":1}').toString(), { headers });
    expect(differences(responded({ a: 1 }, { headers: {} }), packed)).toMatchObject([
      { what: 'header', path: 'content-encoding' },
      { what: 'body', path: '', from: 'JSON', to: 'gzip', old: '{"a":1}', new: 'gzip' },
    ]);
    expect(differences(packed, packed)).toEqual([]);
    const other = responded(gzipSync('{"a":2,"b":3}').toString(), { headers });
    expect(kinds(packed, other)).toEqual(['body text: text → text']);
  });

  it('shows a text as it is, and an empty body', () => {
    expect(differences('two words', '')).toMatchObject([{ old: 'two words', new: 'empty' }]);
  });

  it('accepts ids and times that are generated for each response, also inside a text', () => {
    expect(kinds(generated(NOW), generated(NOW + 1_234))).toEqual([]);
  });

  it('does not accept an id of the request that changes, nor a time in another zone', () => {
    const id = randomUUID();
    expect(kinds({ id }, { id: randomUUID() }, { request: `{"messageId":"${id}"}` })).toHaveLength(1);
    expect(kinds({ at: '2026-11-28T12:00:00Z' }, { at: '2026-11-28T13:00:01Z' })).toHaveLength(1);
    expect(kinds({ at: NOW }, { at: NOW + 2 * 60 * 60 * 1_000 })).toHaveLength(1);
    expect(kinds({ sku: 'order-confirmation-2026' }, { sku: 'order-confirmation-2027' })).toHaveLength(1);
    expect(kinds({ cents: 1_099 }, { cents: 1_100 })).toHaveLength(1);
  });

  it('accepts each path of --ignore, with all below it', () => {
    const old = { a: { b: [{ c: 1, d: 1 }] }, e: 1 };
    const next = { a: { b: [{ c: 2, d: 2 }] }, e: 2 };
    expect(kinds(old, next)).toHaveLength(3);
    expect(kinds(old, next, { ignored: ['$.a.b[*].c', 'e'] })).toEqual(['body $.a.b[*].d: number → number']);
    expect(kinds(old, next, { ignored: ['a.b.0.c', '**.d', '$.e'] })).toEqual([]);
    expect(kinds(old, next, { ignored: ['a', 'e'] })).toEqual([]);
    const [one, other] = ['1', '2'].map((etag) => responded({}, { headers: { etag } }));
    expect(kinds(one, other, { ignored: ['header ETag'] })).toEqual([]);
  });

  it('finds nothing in equal JSON, whatever the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(differences(value, reversed(value))).toEqual([]);
      }),
    );
  });

  it('names exactly the field that changes', () => {
    const leaf = fc.oneof(fc.integer({ max: 9_999 }), fc.boolean(), fc.constantFrom('paid', 'open', ''));
    const flat = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), leaf, { minKeys: 1, maxKeys: 6 });
    fc.assert(
      fc.property(
        flat,
        fc.nat(),
        fc.constantFrom<unknown>(null, 'other', -1, undefined),
        (value, at, other) => {
          const name = Object.keys(value)[at % Object.keys(value).length] ?? '';
          fc.pre(value[name] !== other);
          const found = differences({ in: [value] }, { in: [{ ...value, [name]: other }] });
          expect(found.map(({ what, path }) => [what, path])).toEqual([['body', `$.in[*].${name}`]]);
        },
      ),
    );
  });

  it('finds a moved item, and nothing else, in shuffled lists', () => {
    const items = fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(items, (list) => {
        const moved = [...list.slice(1), ...list.slice(0, 1)];
        expect(kinds({ list }, { list: moved })).toEqual(['body $.list: order → other order']);
      }),
    );
  });
});

function cookie(text: string): Responded {
  return responded({}, { headers: { 'set-cookie': [text] } });
}

/** The same JSON with the keys of all objects in the other order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

/** A response with ids and times of all formats that are recognized. */
function generated(at: number): object {
  const [iso, id] = [new Date(at).toISOString(), randomUUID()];
  const hex = id.replaceAll('-', '');
  return {
    id,
    at: iso,
    date: new Date(at).toUTCString(),
    local: new Date(at).toLocaleString('en-US'),
    seconds: Math.floor(at / 1000),
    ms: at,
    event: `evt_${hex}`,
    text: `Stored ${id} at ${iso}`,
    items: [
      { id: randomUUID(), sku: 'a' },
      { id: randomUUID(), sku: 'b' },
    ],
    byId: { [id]: { n: 1 } },
  };
}
