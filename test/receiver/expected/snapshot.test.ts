import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { compareSnapshots } from '../../../src/receiver/expected/compare-snapshots.ts';
import { formatSnapshot, parseSnapshot, snapshotOf } from '../../../src/receiver/expected/snapshot-text.ts';
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

function changed(before: string, now: string): string[] {
  const [one, other] = [parseSnapshot(before), parseSnapshot(now)];
  if (!one.ok || !other.ok) throw new Error('no snapshot');
  return compareSnapshots(one.users, other.users).flatMap(({ label, differences }) =>
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

/** What a page sends from a server on this port, by a library of this version. */
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

describe('a snapshot', () => {
  it('is the same for the same messages, whatever their ids, times, versions, machines and ports', () => {
    const [one, other] = [browser(3000, '1'), browser(4711, '2')].map((batch) => textOf(batch as object[]));
    expect(one).toBe(other);
    expect(one).toContain('anonymousId = <anonymous-id 1>');
    expect(one).toContain('properties.by = <anonymous-id 1>');
    expect(one).toContain('properties.order = <id 1>');
    expect(one).toContain('context.page.url = "http://localhost:<port>/shop"');
    expect(one).toContain('properties.at = <time>');
  });

  it('of 50 messages changes in one line when one property does', () => {
    const [before, now] = [textOf(fifty({ plan: 'pro' })), textOf(fifty({ plan: 'basic' }))].map((text) =>
      text.split('\n'),
    );
    const differing = before?.filter((line, index) => line !== now?.[index]);
    expect([before?.length === now?.length, differing]).toEqual([true, ['  properties.plan = "pro"']]);
    expect(changed(textOf(fifty({ plan: 'pro' })), textOf(fifty({ plan: 'basic' })))).toEqual([
      'track "Event 3" of user "u1": properties.plan "pro" -> "basic"',
    ]);
  });

  it('goes by user, so that users may come in any order', () => {
    const [a, b] = [event('A'), event('B', { userId: 'u2' })];
    expect(changed(textOf([a, b]), textOf([b, a]))).toEqual([]);
  });

  it('keeps the messages of a visitor with those of the user that he becomes', () => {
    const text = textOf([
      { type: 'page', anonymousId: 'a1' },
      { type: 'identify', anonymousId: 'a1', userId: 'u1' },
    ]);
    expect(text.match(/^(user|page|identify).*$/gm)).toEqual(['user "u1"', 'page', 'identify']);
  });

  it('names a message that is missing, one too many, one that moved, and a type of a value', () => {
    const [a, b, c] = [event('A'), event('B', { properties: { n: 1 } }), event('C')];
    expect(changed(textOf([a, b, c]), textOf([a, c]))).toEqual(['missing: track "B" of user "u1"']);
    expect(changed(textOf([a, c]), textOf([a, event('X'), c]))).toEqual([
      'not in the snapshot: track "X" of user "u1"',
    ]);
    expect(changed(textOf([a, b]), textOf([a, event('B', { properties: { n: '1' } })]))).toEqual([
      'track "B" of user "u1": properties.n 1 -> "1"',
    ]);
    expect(changed(textOf([a, c]), textOf([c, a]))).toHaveLength(2);
    expect(changed(textOf([a]), textOf([a, a]))).toContain('not in the snapshot: track "A" of user "u1"');
  });

  it('is read back as it was written, whatever is in it', () => {
    const odd = [
      event('a\nb = c', { properties: { 'x = y': 1, '': null, 'é"': [], '<<<<<<<': { '\u2028': '\n' } } }),
      { type: 'user "u1"', userId: '\n# hooks' },
      { type: '<x>' },
      {},
    ];
    const messages = odd.map((value, index) => ({
      index,
      value: JSON.parse(JSON.stringify(value)) as object as never,
    }));
    const users = snapshotOf(messages);
    expect(parseSnapshot(formatSnapshot(users))).toEqual({ ok: true, users });
    expect(changed(formatSnapshot(users), formatSnapshot(users))).toEqual([]);
  });

  it.each([
    ['another file', '{"a":1}', 1],
    ['an empty file', '', 1],
    ['a later format', '# hooks snapshot 12: x\n', 1],
    ['conflict markers', `${textOf([event('A')])}<<<<<<< HEAD\n`, 9],
    ['a value without a message', '# hooks snapshot 1: x\n\nuser "u1"\n  a = 1\n', 4],
  ])('is told from %s', (_what, text, line) => {
    expect(parseSnapshot(text)).toMatchObject({ ok: false, line });
  });
});
