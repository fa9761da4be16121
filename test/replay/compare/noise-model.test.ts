import { randomBytes, randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareResponses } from '../../../src/replay/compare/compare-responses.ts';
import { partsOfResponse, type ResponseParts } from '../../../src/replay/compare/compared-response.ts';
import { DifferenceTally } from '../../../src/replay/compare/difference-tally.ts';
import { NoiseModel } from '../../../src/replay/compare/noise-model.ts';
import { differences, ENTRY, kinds, NOW, responded, type Responded } from './compared.ts';

/** Pairs of responses to 20 messages. */
function pairs(make: (message: number, request: 0 | 1) => unknown): (readonly [unknown, unknown])[] {
  return Array.from({ length: 20 }, (_, index) => [make(index, 0), make(index, 1)] as const);
}

const WORDS = ['red', 'green', 'blue'];

describe('noise', () => {
  it('is a counter, a random text, a random field of a list and a header that differ between two calls', () => {
    let count = 0;
    const make = () => {
      const id = (count++ * 7_919).toString(36);
      return responded({ count, id, rows: [{ id, name: 'a' }] }, { headers: { 'x-id': id } });
    };
    const learned = pairs(make);
    expect(kinds(make(), make(), { learned })).toEqual([]);
    const noise = new NoiseModel();
    differences(make(), make(), { learned, noise });
    expect(noise.paths()).toEqual(['$.count', '$.id', '$.rows[*].id', 'header x-id']);
  });

  it('does not hide a field whose name begins with that of an object with random keys', () => {
    const learned = pairs((message, request) => ({
      users: { [hex(message * 2 + request)]: 1 },
      usersCount: 5,
    }));
    expect(
      kinds(
        { users: { [hex(1)]: 1 }, usersCount: 5 },
        { users: { [hex(2)]: 1 }, usersCount: 6 },
        { learned },
      ),
    ).toEqual(['body $.usersCount: number → number']);
  });

  it('does not hide another format of a random field', () => {
    const learned = pairs((message, request) => ({
      id: `r${message * 2 + request}`,
      n: message * 2 + request,
    }));
    expect(kinds({ id: 'r1', n: 1 }, { id: null, n: '1' }, { learned })).toEqual([
      'body $.id: text → null',
      'body $.n: number → text',
    ]);
    expect(kinds({ id: 'r1', n: 1 }, { id: '', n: 2 }, { learned })).toEqual([
      'body $.id: text → empty text',
    ]);
  });

  it('does not hide a new value of a field that has a few random ones', () => {
    const learned = pairs((message, request) => ({ shard: WORDS[(message + request) % 3] }));
    expect(kinds({ shard: 'red' }, { shard: 'blue' }, { learned })).toEqual([]);
    expect(kinds({ shard: 'red' }, { shard: 'failed' }, { learned })).toEqual([
      'body $.shard: its usual values → "failed"',
    ]);
  });

  it.each<[string, (at: number) => unknown, (at: number) => unknown, string]>([
    ['a word in place of a hex id', hex, () => 'abc', 'its usual values → "abc"'],
    ['markup in place of a hex id', hex, () => '<script>ERROR', 'its usual values → "<script>ERROR"'],
    ['another length of a hex id', hex, (at) => hex(at).slice(0, 12), '24 characters → 12 characters'],
    [
      'another prefix of an id',
      () => `usr_${hex()}`,
      (at) => (at > 200 ? 'USR_8f3a61b20c4d' : `usr_${hex()}`),
      'its usual values → "USR_8f3a61b20c4d"',
    ],
    ['a constant UUID', () => randomUUID(), () => UUID, 'changing values → one value'],
    ['one value of five', (at) => COLORS[(at * 7) % 5], () => 'red', 'its usual values → red'],
    [
      'a new value of five',
      (at) => COLORS[(at * 7) % 5],
      (at) => (at % 50 ? 'red' : 'BLACK'),
      'its usual values → "BLACK"',
    ],
    ['negative numbers', (at) => at % 100, (at) => (at % 100) - 200, 'whole number → negative whole number'],
    ['a constant in place of a counter', (at) => at, () => 5, 'changing values → one value'],
    ['fractions of a counter', (at) => at, (at) => at + 0.5, 'whole number → fraction'],
    [
      'a far range',
      (at) => 0.1 + (at % 7) / 1e9,
      (at) => 5.1 + (at % 7) / 1e9,
      '0.1 to 0.100000006 → 5.1 to 5.100000005999999',
    ],
    [
      'seconds of a clock',
      (at) => NOW + at,
      (at) => Math.floor(NOW / 1_000) + at,
      'time of 13 digits → time of 10 digits',
    ],
    [
      'a clock that stands still',
      (at) => iso(NOW + at),
      () => '2001-01-01T00:00:00Z',
      'current time → other time',
    ],
  ])('does not hide %s', (_, old, next, change) => {
    expect(changes(old, next)).toContain(change);
    expect(changes(old, old)).toEqual([]);
  });

  it('is a counter from another start, and a random number with a rare high one', () => {
    expect(
      changes(
        (at) => at,
        (at) => 70_000 + at,
      ),
    ).toEqual([]);
    expect(
      changes(
        (at) => at % 9,
        (at) => (at === 150 ? 4_000 : (at * 5) % 9),
      ),
    ).toEqual([]);
  });

  it('drops a difference if the old receiver shows the value later', () => {
    const noise = new NoiseModel();
    const learned = pairs((message, request) => ({ cache: (message + request) % 3 === 0 ? 'miss' : 'hit' }));
    const tally = new DifferenceTally();
    const entry = { index: 1, origin: { file: 'a', line: 1 }, title: 'track' };
    tally.add(differences({ cache: 'hit' }, { cache: 'stale' }, { learned, noise }), entry);
    expect(tally.kinds(noise)).toHaveLength(1);
    expect(differences({ cache: 'stale' }, { cache: 'hit' }, { noise })).toEqual([]);
    expect(tally.kinds(noise)).toEqual([]);
    let count = 0;
    tally.add(differences({ n: 1 }, { n: null }, { learned: pairs(() => ({ n: count++ })), noise }), entry);
    expect(tally.kinds(noise)).toHaveLength(1);
    expect(differences({ n: null }, { n: 2 }, { noise })).toEqual([]);
    expect(tally.kinds(noise)).toEqual([]);
  });

  it('is not what a receiver does with a duplicate', () => {
    const learned = pairs((message, request) =>
      request === 0
        ? { status: 'created', text: `order ${message} created`, order: message }
        : { status: 'duplicate', text: `order ${message} exists` },
    );
    const created = { status: 'created', text: 'order 99 created', order: 99 };
    expect(kinds(created, created, { learned })).toEqual([]);
    expect(kinds(created, { status: 'accepted', text: 'order 99 accepted' }, { learned })).toEqual([
      'body $.status: text → text',
      'body $.text: text → text',
      'body $.order: number → missing',
    ]);
  });

  it('is an id with another prefix in the response to a duplicate', () => {
    const learned = pairs((message, request) => ({ id: `${request === 0 ? 'new' : 'dup'}_${message * 7}` }));
    expect(kinds({ id: 'new_200' }, { id: 'new_207' }, { learned })).toEqual([]);
  });

  it('is one word of a text', () => {
    const learned = pairs((message, request) => order(message * 2 + request, 5));
    expect(kinds(order(90, 5), order(91, 5), { learned })).toEqual([]);
    expect(kinds(order(90, 5), order(91, 6), { learned })).toHaveLength(1);
  });

  it('is not learned from responses with two statuses', () => {
    const learned = pairs((_, request) =>
      responded({ total: request }, { status: request === 0 ? 200 : 409 }),
    );
    expect(kinds({ total: 1 }, { total: 2 }, { learned })).toHaveLength(1);
  });

  it('is the order and the number of items if these differ between two calls', () => {
    const learned = pairs((message, request) => {
      const items = ['a', 'b', 'c'].slice(0, 1 + ((message + request) % 3));
      return { items, list: request === 0 ? ['a', 'b'] : ['b', 'a'] };
    });
    const old = { items: ['a', 'b'], list: ['a', 'b'] };
    expect(kinds(old, { items: ['a'], list: ['b', 'a'] }, { learned })).toEqual([]);
    expect(kinds(old, { items: ['x', 'b'], list: ['a', 'x'] }, { learned })).toEqual([
      'body $.items[*]: text → text',
      'body $.list[*]: text → text',
    ]);
  });

  it('is a field that is sometimes missing', () => {
    const learned = pairs((message, request) => ((message + request) % 3 === 0 ? { warning: 'slow' } : {}));
    expect(kinds({ warning: 'slow' }, {}, { learned })).toEqual([]);
  });

  it('is any random number or text, and never a field beside it', () => {
    const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string({ minLength: 3 }));
    // A larger number can be a time, which is noise of its own.
    const count = fc.integer({ min: -1e9, max: 1e9 });
    const random = fc.uniqueArray(value, { minLength: 42, maxLength: 42, comparator: 'SameValue' });
    fc.assert(
      fc.property(random, count, count, (values, total, other) => {
        fc.pre(total !== other);
        const learned = pairs((message, request) => ({ noise: values[message * 2 + request], total: 5 }));
        const next = { noise: values[41], total: other };
        expect(kinds({ noise: values[40], total }, next, { learned })).toContain(
          'body $.total: number → number',
        );
        const isSame = kinds({ noise: values[40], total }, { ...next, total }, { learned });
        const formats = new Set(
          values.map((each) => (typeof each === 'string' ? each.trim() === '' : 'number')),
        );
        if (formats.size === 1) expect(isSame).toEqual([]);
      }),
    );
  });
});

const COLORS = ['red', 'green', 'blue', 'pink', 'gray'];
const UUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';

function hex(_at?: number): string {
  return randomBytes(12).toString('hex');
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function field(value: unknown): ResponseParts {
  return partsOfResponse(responded({ field: value }));
}

/** Compares 300 responses with one noisy field, of which 20 were repeated. */
function changes(old: (at: number) => unknown, next: (at: number) => unknown): readonly string[] {
  const noise = new NoiseModel();
  const tally = new DifferenceTally();
  const context = { isEchoed: () => false, now: NOW, entry: ENTRY, noise, ignores: () => false };
  for (let at = 0; at < 20; at++) noise.learn(field(old(at)), field(old(at + 1)), context);
  for (let at = 0; at < 300; at++) {
    const both = [old(at), next(at)].map((value) => responded({ field: value })) as [Responded, Responded]; // two values
    tally.add(compareResponses(...both, context), ENTRY);
  }
  return tally.kinds(noise).map(({ example: { from, to } }) => `${from} → ${to}`);
}

function order(id: number, total: number): string {
  return `<order><id>r${id}</id><total>${total}.00</total></order>`;
}
