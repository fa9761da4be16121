import type { DifferingMessage, MessageDifference } from './finding.ts';
import type { SnapshotMessage, SnapshotUser } from './snapshot-text.ts';

/** The messages that differ between a snapshot and what came, by user; a message more or less on either side is one. */
export function compareSnapshots(
  before: readonly SnapshotUser[],
  now: readonly SnapshotUser[],
): readonly DifferingMessage[] {
  const headings = new Set([...before, ...now].map(({ heading }) => heading));
  return [...headings].flatMap((heading) => {
    const [expected = [], got = []] = [before, now].map(
      (users) => users.find((user) => user.heading === heading)?.messages,
    );
    return aligned(expected, got).flatMap(([one, other]) => differenceOf(one, other, heading));
  });
}

type Pair = readonly [expected: SnapshotMessage | undefined, got: SnapshotMessage | undefined];

function differenceOf(one: Pair[0], other: Pair[1], heading: string): DifferingMessage[] {
  const title = one?.title ?? other?.title ?? '';
  if (one === undefined) return [{ label: `not in the snapshot: ${title} of ${heading}`, differences: [] }];
  if (other === undefined) return [{ label: `missing: ${title} of ${heading}`, differences: [] }];
  const differences = lineDifferences(one, other);
  return differences.length === 0 ? [] : [{ label: `${title} of ${heading}`, differences }];
}

function lineDifferences(one: SnapshotMessage, other: SnapshotMessage): MessageDifference[] {
  const [before, now] = [one, other].map(({ lines }) => new Map(lines.map(pathAndValue)));
  const paths = new Set([...(before?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...paths].flatMap((path): MessageDifference[] => {
    const [expected, got] = [before?.get(path), now?.get(path)];
    if (expected === got) return [];
    return [
      { path, expected: expected ?? 'nothing', wanted: expected ?? null, got: got ?? 'nothing', found: got },
    ];
  });
}

function pathAndValue(line: string): [path: string, value: string] {
  // A path that is quoted may hold what separates it from its value.
  const [, path = line, value = ''] = /^((?:\["(?:[^"\\]|\\.)*"\]|[^"])*?) = (.*)$/s.exec(line) ?? [];
  return [path, value];
}

/** More pairs are aligned one by one: the cost is the product of both numbers. */
const MAX_PAIRS = 4_000_000;

/** Pairs messages so that as many as possible are equal, and then as many as possible have the same title. */
function aligned(expected: readonly SnapshotMessage[], got: readonly SnapshotMessage[]): Pair[] {
  if (expected.length * got.length > MAX_PAIRS) return alignedByPlace(expected, got);
  const scores = scoresOf(expected, got);
  const pairs: Pair[] = [];
  let [row, column] = [0, 0];
  while (row < expected.length || column < got.length) {
    const [one, other] = [expected[row], got[column]];
    const score = scores[row]?.[column] ?? 0;
    if (
      one !== undefined &&
      other !== undefined &&
      score === likeness(one, other) + scoreAt(scores, row + 1, column + 1) &&
      one.title === other.title
    ) {
      pairs.push([one, other]);
      row++;
      column++;
    } else if (one !== undefined && (other === undefined || score === scoreAt(scores, row + 1, column))) {
      pairs.push([one, undefined]);
      row++;
    } else {
      pairs.push([undefined, other]);
      column++;
    }
  }
  return pairs;
}

/** The best score of what follows each pair: longest common subsequence, weighted. */
function scoresOf(expected: readonly SnapshotMessage[], got: readonly SnapshotMessage[]): number[][] {
  const scores = Array.from({ length: expected.length + 1 }, () => Array<number>(got.length + 1).fill(0));
  for (let row = expected.length - 1; row >= 0; row--) {
    for (let column = got.length - 1; column >= 0; column--) {
      const [one, other, line] = [expected[row], got[column], scores[row]];
      if (one === undefined || other === undefined || line === undefined) continue;
      const paired =
        one.title === other.title ? likeness(one, other) + scoreAt(scores, row + 1, column + 1) : 0;
      line[column] = Math.max(paired, scoreAt(scores, row + 1, column), scoreAt(scores, row, column + 1));
    }
  }
  return scores;
}

function scoreAt(scores: readonly (readonly number[])[], row: number, column: number): number {
  return scores[row]?.[column] ?? 0;
}

/** Two messages of one title: equal ones go before others. */
function likeness(one: SnapshotMessage, other: SnapshotMessage): number {
  if (one.title !== other.title) return 0;
  const isEqual =
    one.lines.length === other.lines.length && one.lines.every((line, index) => line === other.lines[index]);
  return isEqual ? 3 : 2;
}

function alignedByPlace(expected: readonly SnapshotMessage[], got: readonly SnapshotMessage[]): Pair[] {
  return Array.from({ length: Math.max(expected.length, got.length) }, (_, index) => [
    expected[index],
    got[index],
  ]);
}
