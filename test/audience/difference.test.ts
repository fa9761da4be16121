import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesIn, emptyCounts, PartitionComparison, type Change } from '../../src/audience/difference.ts';
import type { JsonValue } from '../../src/message/types.ts';
import { parseMember, writeEntry, writeId, type AudienceEntry } from '../../src/audience/entry.ts';

const comparison = new PartitionComparison();

interface Compared {
  readonly changes: readonly Change[];
  readonly kept: readonly string[];
  readonly counts: ReturnType<PartitionComparison['compare']>;
}

function bytesOf(entries: readonly AudienceEntry[], kind: 'audience' | 'trait'): Buffer {
  return Buffer.from(entries.map((entry) => `${writeEntry(entry, kind)}\n`).join(''));
}

function compare(
  told: readonly AudienceEntry[],
  given: readonly AudienceEntry[],
  { doubtful = [], kind = 'trait' }: { doubtful?: readonly string[]; kind?: 'audience' | 'trait' } = {},
): Compared {
  const changes: Change[] = [];
  const kept: string[] = [];
  const half = Math.floor(given.length / 2);
  const counts = comparison.compare(
    { members: told.length, entries: bytesOf(told, kind), doubtful: doubtful.map(writeId) },
    {
      chunks: [bytesOf(given.slice(0, half), kind), bytesOf(given.slice(half), kind)],
      count: given.length,
      absent: null,
    },
    (change) => changes.push(change),
    (line) => kept.push(Buffer.from(line).toString()),
  );
  return { changes, kept, counts };
}

const members = (...ids: readonly string[]): readonly AudienceEntry[] =>
  ids.map((userId) => ({ userId, value: true }));
const asWritten = (value: JsonValue | undefined): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
const brief = ({ kind, userId, value }: Change): string => `${kind} ${userId} ${JSON.stringify(value)}`;

/** The cast is needed because the types of fast-check have mutable arrays. */
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>;
/** Ids that look like each other, like JSON, or like lines. */
const ids = fc.oneof(
  fc.constantFrom('a', 'aa', 'b', 'ab', '"', '"a"', 'a\tb', 'a\nb', '\u0000', 'é', '🔥', 'a b', '\\n'),
  fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme' }),
);
const values = fc.oneof(fc.constantFrom(1, 2, true, null, 'a', 'a\tb\n', ''), json);
const entries = fc.array(fc.record({ userId: ids, value: values }), { maxLength: 12 });

describe('an entry', () => {
  it('is one line, and is parsed back to the same entry', () => {
    fc.assert(
      fc.property(ids, json, (userId, value) => {
        const line = writeEntry({ userId, value }, 'trait');
        expect(line).not.toContain('\n');
        expect(JSON.stringify(parseMember(line))).toBe(JSON.stringify({ userId, value }));
        expect(parseMember(writeEntry({ userId, value: true }, 'audience'))).toEqual({ userId, value: true });
      }),
    );
  });
});

describe('the difference of a partition', () => {
  it('is empty for equal lists in any order', () => {
    const { changes, kept, counts } = compare(members('a', 'b', 'c'), members('c', 'a', 'b'));
    expect([changes, kept.length]).toEqual([[], 3]);
    expect(counts).toEqual({ ...emptyCounts(), members: 3, unchanged: 3 });
  });

  it('lists users who joined or left', () => {
    const { changes, kept } = compare(members('a', 'b'), members('b', 'c'), { kind: 'audience' });
    expect(changes.map(brief).toSorted()).toEqual(['added c true', 'removed a null']);
    expect(kept).toEqual(['b\n']);
  });

  it('lists changed values, and uses the last value of a repeated id', () => {
    const sent = [
      { userId: 'a', value: 1 },
      { userId: 'b', value: 1 },
    ];
    const given = [
      { userId: 'a', value: 2 },
      { userId: 'b', value: 5 },
      { userId: 'b', value: 1 },
    ];
    const { changes, counts } = compare(sent, given);
    expect(changes.map(brief)).toEqual(['changed a 2']);
    expect(counts).toMatchObject({ members: 2, duplicates: 1, changed: 1, unchanged: 1 });
  });

  it('ignores the order of keys in values', () => {
    const [one, other] = [
      { a: 1, b: [{ c: 2, d: 3 }] },
      { b: [{ d: 3, c: 2 }], a: 1 },
    ];
    const { changes, kept } = compare([{ userId: 'u', value: one }], [{ userId: 'u', value: other }]);
    expect([changes, kept]).toEqual([[], [`u\t${JSON.stringify(one)}\n`]]);
    expect(compare([{ userId: 'u', value: [1, 2] }], [{ userId: 'u', value: [2, 1] }]).changes).toHaveLength(
      1,
    );
  });

  it('repeats the current values of doubtful users', () => {
    const doubtful = ['a', 'b', 'c', 'd'];
    const { changes, counts } = compare(members('a', 'b'), members('a', 'c'), { doubtful });
    expect(changes.map(brief).toSorted()).toEqual([
      'added c true',
      'removed b null',
      'repeated a true',
      'repeated d null',
    ]);
    expect(counts).toMatchObject({ added: 1, removed: 1, repeated: 2, unchanged: 0 });
    expect(changesIn(counts)).toBe(4);
  });

  it('equals the difference of two maps for any ids and values', () => {
    fc.assert(
      fc.property(entries, entries, fc.array(ids, { maxLength: 4 }), (before, given, doubts) => {
        const told = new Map(before.map(({ userId, value }) => [userId, value]));
        const now = new Map(given.map(({ userId, value }) => [userId, value]));
        const doubtful = [...new Set(doubts)];
        const expected = [...new Set([...told.keys(), ...now.keys(), ...doubtful])].flatMap((userId) => {
          const [one, other] = [told.get(userId), now.get(userId)];
          const isSame =
            told.has(userId) === now.has(userId) && isDeepStrictEqual(asWritten(one), asWritten(other));
          return isSame && !doubtful.includes(userId) ? [] : [`${userId} ${JSON.stringify(other ?? null)}`];
        });
        const { changes, counts, kept } = compare(
          [...told].map(([userId, value]) => ({ userId, value })),
          given,
          { doubtful },
        );
        expect(changes.map(({ userId, value }) => `${userId} ${JSON.stringify(value)}`).toSorted()).toEqual(
          expected.toSorted(),
        );
        expect(counts).toMatchObject({ members: now.size, duplicates: given.length - now.size });
        expect(changesIn(counts)).toBe(changes.length);
        expect(kept).toHaveLength(counts.unchanged);
      }),
      { numRuns: 500 },
    );
  });
});
