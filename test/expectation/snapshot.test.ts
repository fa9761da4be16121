import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSnapshots } from '../../src/expectation/compare-snapshots.ts';
import { snapshotOf, type SnapshotUser } from '../../src/expectation/snapshot.ts';
import { formatSnapshot, parseSnapshot } from '../../src/expectation/snapshot-text.ts';
import type { JsonValue } from '../../src/message/types.ts';
import { json } from '../message/arbitraries.ts';
import { arriving } from './arriving.ts';

const event = (name: string, fields: object = {}): object => ({
  type: 'track',
  event: name,
  userId: 'u1',
  messageId: `node-${randomUUID()}`,
  timestamp: new Date(Date.now() - Math.random() * 1e9).toISOString(),
  ...fields,
});

function textOf(batch: readonly object[]): string {
  return formatSnapshot(snapshotOf(arriving(batch).map(({ message }) => message)));
}

const keyed = (writeKey: string): string => textOf([event('A', { writeKey })]);

describe('a snapshot of keyed messages', () => {
  it('has a digest of the write key, so that a different key shows', () => {
    expect(keyed('KEY-OF-A-WORKSPACE')).toMatch(/^ {2}writeKey = <write-key [0-9a-f]{12}>$/m);
    expect(keyed('KEY-OF-A-WORKSPACE')).toBe(keyed('KEY-OF-A-WORKSPACE'));
    expect(changed(keyed('KEY-ONE-PACE'), keyed('KEY-TWO-PACE'))).toEqual([
      expect.stringMatching(/^track "A" of user "u1": writeKey <write-key \S+ -> <write-key \S+>$/),
    ]);
  });
});

function parsed(text: string): readonly SnapshotUser[] {
  return parseSnapshot(text, { file: 'a.snap', isReplaced: false });
}

function changed(before: string, now: string): string[] {
  return compareSnapshots(parsed(before), parsed(now)).flatMap(({ label, differences }) =>
    differences.length === 0
      ? [label]
      : differences.map(({ path, expected, got }) => `${label}: ${path} ${expected} -> ${got}`),
  );
}

const fifty = (change: object = {}): object[] =>
  Array.from({ length: 50 }, (_, id) =>
    event(`Event ${id % 7}`, {
      userId: `u${id % 3}`,
      properties: { id, list: [1, 'a', {}], ...(id === 31 && change) },
    }),
  );

/** Values that look like parts of a snapshot, or do not belong in a message. */
const odd = fc.oneof(
  json,
  fc.constantFrom<JsonValue>(
    'user "u1"',
    'user',
    'no user',
    'no type',
    '# hooks snapshot 1:',
    '<<<<<<< HEAD',
    '=======',
    '>>>>>>> theirs',
    '<message-id>',
    '<anonymous-id 1>',
    '<time>',
    'http://localhost:<port>/',
    ' = ',
    '\n\r\n',
    '注文',
    '7f3d8a52-0000-4000-8000-000000000001',
    'track',
  ),
);

const oddMessage: fc.Arbitrary<JsonValue> = fc.oneof(
  odd,
  fc.record(
    {
      type: odd,
      event: odd,
      userId: odd,
      anonymousId: odd,
      messageId: odd,
      timestamp: odd,
      properties: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('x = y', '"', ' a', '<<<<<<<')), odd),
      '<<<<<<< HEAD': odd,
    },
    { requiredKeys: [] },
  ),
);

/** The messages of a page on a server at this port, sent by a library of this version. */
const browser = (port: number, version: string): object => {
  const anonymousId = randomUUID();
  const order = randomUUID();
  const context = {
    ip: `10.0.0.${port % 200}`,
    userAgent: version,
    locale: version,
    timezone: version,
    screen: { width: port },
    library: { name: 'analytics.js', version },
    page: { url: `http://localhost:${port}/shop`, referrer: `http://127.0.0.1:${port}/` },
  };
  return [
    event('A', { anonymousId, context, properties: { order, at: new Date().toISOString() } }),
    event('B', { anonymousId, context, properties: { order, by: anonymousId } }),
  ];
};

/** Snapshot of the messages of three users without an id and one with an id, sent in this order. */
const runInOrder = (order: readonly number[]): string => {
  const [one, other, third] = [randomUUID(), randomUUID(), randomUUID()];
  const item = randomUUID();
  const sent = [
    { type: 'page', anonymousId: one, name: 'Home' },
    { type: 'track', anonymousId: one, event: 'A', properties: { by: one, item } },
    { type: 'page', anonymousId: other, name: 'Home' },
    { type: 'track', anonymousId: other, event: 'A', properties: { by: other, n: 1 } },
    { type: 'page', anonymousId: third, name: 'Home' },
    { type: 'track', userId: 'u1', event: 'A', properties: { item } },
  ];
  return textOf(order.map((at) => ({ ...sent[at], messageId: randomUUID() })));
};

const runOf = (values: readonly number[], replaced?: number): string =>
  textOf(
    values.map((m) => ({
      type: 'track',
      event: 'A',
      anonymousId: randomUUID(),
      properties: { n: m === replaced ? 5 : m, m },
    })),
  );

describe('a snapshot', () => {
  it('ignores ids, times, versions, machines and ports', () => {
    const [one, other] = [browser(3000, '1'), browser(4711, '2')].map((batch) => textOf(batch as object[]));
    expect(one).toBe(other);
    expect(one).toContain('anonymousId = <anonymous-id 1>');
    expect(one).toContain('properties.by = <anonymous-id 1>');
    expect(one).toContain('properties.order = <id 1>');
    expect(one).toContain('context.page.url = "http://localhost:<port>/shop"');
    expect(one).toContain('properties.at = <time>');
  });

  it('of 50 messages changes in one line if one property changes', () => {
    const [before, now] = [textOf(fifty({ plan: 'pro' })), textOf(fifty({ plan: 'basic' }))].map((text) =>
      text.split('\n'),
    );
    const differing = before?.filter((line, index) => line !== now?.[index]);
    expect([before?.length === now?.length, differing]).toEqual([true, ['  properties.plan = "pro"']]);
    expect(changed(textOf(fifty({ plan: 'pro' })), textOf(fifty({ plan: 'basic' })))).toEqual([
      'track "Event 3" of user "u1": properties.plan "pro" -> "basic"',
    ]);
  });

  it('groups messages by user, so that users can arrive in any order', () => {
    const [a, b] = [event('A'), event('B', { userId: 'u2' })];
    expect(changed(textOf([a, b]), textOf([b, a]))).toEqual([]);
  });

  it('keeps the messages of a visitor with those of the identified user', () => {
    const text = textOf([
      { type: 'page', anonymousId: 'a1' },
      { type: 'identify', anonymousId: 'a1', userId: 'u1' },
    ]);
    expect(text.match(/^(user|page|identify).*$/gm)).toEqual(['user "u1"', 'page', 'identify']);
  });

  it('names missing, additional and moved messages, and a changed type of a value', () => {
    const [a, b, c] = [event('A'), event('B', { properties: { n: 1 } }), event('C')];
    expect(changed(textOf([a, b, c]), textOf([a, c]))).toEqual(['missing: track "B" of user "u1"']);
    expect(changed(textOf([a, c]), textOf([a, event('X'), c]))).toEqual([
      'not in the snapshot: track "X" of user "u1"',
    ]);
    expect(changed(textOf([a, b]), textOf([a, event('B', { properties: { n: '1' } })]))).toEqual([
      'track "B" of user "u1": properties.n 1 -> "1"',
    ]);
    expect(changed(textOf([a, c]), textOf([c, a]))).toEqual([
      expect.stringMatching(
        /^moved: track "[AC]" of user "u1": message [12] of this user is now message [12]$/,
      ),
    ]);
    const times = (count: number): object[] => Array.from({ length: count }, () => event('A'));
    const second = 'not in the snapshot: a second track "A" of user "u1"';
    expect(changed(textOf([a]), textOf([a, event('A')]))).toEqual([second]);
    expect(changed(textOf([a]), textOf(times(4))).map((label) => label.slice(21, 30))).toEqual([
      'a second ',
      'a third t',
      'a further',
    ]);
  });

  it('names a message once that moved and differs', () => {
    const [a, c, d] = [event('A'), event('C'), event('D')];
    const [one, two] = [1, 2].map((n) => event('B', { properties: { n } }));
    expect(changed(textOf([one ?? {}, a, c, d]), textOf([a, c, d, two ?? {}]))).toEqual([
      'moved, and differs: track "B" of user "u1": message 1 of this user is now message 4: properties.n 1 -> 2',
    ]);
  });

  it('has placeholders for versions, sessions and ids without dashes', () => {
    const run = (n: number): string => {
      const context = { app: { name: 'a', version: `1.${n}`, build: n }, os: { name: 'o', version: `${n}` } };
      const id = randomUUID().replaceAll('-', '');
      return textOf([event('A', { context: { ...context, sessionId: n }, properties: { id } })]);
    };
    expect(run(1)).toBe(run(2));
    const hash = 'd41d8cd98f00b204e9800998ecf8427e';
    expect(textOf([event('A', { properties: { hash } })])).toContain(`properties.hash = "${hash}"`);
  });

  it('is recognized despite a merge conflict in its first line', () => {
    const [first, second] = ['<<<<<<< HEAD', '# hooks snapshot 1: x'];
    const text = `${first}\n${second}\n`;
    expect(() => parsed(text)).toThrow(
      expect.objectContaining({
        message: 'Expected a snapshot without a merge conflict',
        line: 1,
      }),
    );
    const replaced = { file: 'a.snap', isReplaced: true };
    expect(parseSnapshot(text, replaced)).toEqual([]);
    expect(() => parseSnapshot(`${first}\n`, replaced)).toThrow(expect.objectContaining({ line: 1 }));
  });

  it('is parsed back to the same users, with any content', () => {
    fc.assert(
      fc.property(fc.array(oddMessage, { maxLength: 6 }), (values) => {
        const users = snapshotOf(values.map((value, index) => ({ index, value })));
        const read = parsed(Buffer.from(formatSnapshot(users)).toString());
        expect(read).toEqual(users);
        expect(compareSnapshots(read, users)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('has a different text for different messages', () => {
    const values: JsonValue[] = [
      null,
      'a',
      [],
      {},
      { type: 'no type' },
      { type: '' },
      { type: null },
      { event: '' },
      { event: 'A' },
      { type: 'track "A"' },
      { type: 'track', event: 'A' },
      { message: null },
      { '(message)': null },
      { a: '<time>' },
      { a: new Date(0).toISOString() },
    ];
    const texts = values.map((value) => formatSnapshot(snapshotOf([{ index: 0, value }])));
    expect(new Set(texts).size).toBe(values.length);
  });

  it('does not depend on the order of users whose ids are new in each run', () => {
    const first = runInOrder([0, 1, 2, 3, 4, 5]);
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 2, 4, 5], { minLength: 4 }), (order) => {
        const whole = order.flatMap((at) => (at < 4 ? [at, at + 1] : [at]));
        expect(runInOrder(whole)).toBe(first);
        expect(changed(first, runInOrder(whole))).toEqual([]);
      }),
    );
    expect(first).toContain('properties.item = <shared id 1>');
  });

  it('names one message if one of several users without an id sends another value', () => {
    expect(changed(runOf([1, 2, 3]), runOf([3, 1, 2]))).toEqual([]);
    expect(changed(runOf([1, 2, 3]), runOf([3, 2, 1], 2))).toEqual([
      'track "A" of user <anonymous-id>: properties.n 2 -> 5',
    ]);
    expect(changed(runOf([1, 2]), runOf([1, 2, 3]))).toEqual([
      'not in the snapshot: track "A" of user <anonymous-id>',
    ]);
  });

  it.each([
    ['another file', '{"a":1}', 1],
    ['an empty file', '', 1],
    ['a later format', '# hooks snapshot 12: x\n', 1],
    ['conflict markers', `${textOf([event('A')])}<<<<<<< HEAD\n`, 9],
    ['a value without a message', '# hooks snapshot 1: x\n\nuser "u1"\n  a = 1\n', 4],
  ])('is distinguished from %s', (_what, text, line) => {
    expect(() => parsed(text)).toThrow(
      expect.objectContaining({ code: 'ERR_HOOKS_INPUT', file: 'a.snap', line }),
    );
  });
});
