import type { DifferingMessage, MessageDifference } from './finding.ts';
import type { SnapshotMessage, SnapshotUser } from './snapshot.ts';

/** The messages that differ between a snapshot and what came, by user; a message more or less on either side is one. */
export function compareSnapshots(
  before: readonly SnapshotUser[],
  now: readonly SnapshotUser[],
): readonly DifferingMessage[] {
  const [expected, got] = [usersByHeading(before), usersByHeading(now)];
  const headings = new Set([...expected.keys(), ...got.keys()]);
  return [...headings].flatMap((heading) =>
    pairedUsers(expected.get(heading) ?? [], got.get(heading) ?? []).flatMap(([one, other]) =>
      userDifferences(one?.messages ?? [], other?.messages ?? [], heading),
    ),
  );
}

function usersByHeading(users: readonly SnapshotUser[]): ReadonlyMap<string, readonly ComparedUser[]> {
  const byHeading = new Map<string, ComparedUser[]>();
  for (const { heading, messages } of users) {
    const compared = messages.map((message) => ({ ...message, text: textOf(message) }));
    const user = { messages: compared, text: compared.map(({ text }) => text).join('\n\n') };
    const same = byHeading.get(heading);
    if (same === undefined) byHeading.set(heading, [user]);
    else same.push(user);
  }
  return byHeading;
}

interface ComparedMessage extends SnapshotMessage {
  /** All of it. */
  readonly text: string;
}

interface ComparedUser {
  readonly messages: readonly ComparedMessage[];
  /** All of it. */
  readonly text: string;
}

function textOf({ title, lines }: SnapshotMessage): string {
  return [title, ...lines].join('\n');
}

/** More pairs are made by their places: the cost is the product of both numbers. */
const MAX_USER_PAIRS = 100_000;

type UserPair = readonly [expected: ComparedUser | undefined, got: ComparedUser | undefined];

/** Pairs users of one heading, such as those known by an anonymous id alone: equal ones, and of the others the most alike. */
function pairedUsers(expected: readonly ComparedUser[], got: readonly ComparedUser[]): readonly UserPair[] {
  const left = new Map<string, ComparedUser[]>();
  for (const user of got) left.set(user.text, [...(left.get(user.text) ?? []), user]);
  const ones = expected.filter(({ text }) => left.get(text)?.pop() === undefined);
  const others = [...left.values()].flat();
  const pairs: UserPair[] = [];
  for (const [one, other] of likelyPairs(ones, others)) {
    pairs.push([one, other]);
    ones.splice(ones.indexOf(one), 1);
    others.splice(others.indexOf(other), 1);
  }
  const most = Math.max(ones.length, others.length);
  return [...pairs, ...Array.from({ length: most }, (_, index): UserPair => [ones[index], others[index]])];
}

function likelyPairs(
  ones: readonly ComparedUser[],
  others: readonly ComparedUser[],
): readonly (readonly [ComparedUser, ComparedUser])[] {
  if (ones.length * others.length > MAX_USER_PAIRS) return [];
  const lines = new Map([...ones, ...others].map((user) => [user, new Set(user.text.split('\n'))]));
  const scored = ones
    .flatMap((one) =>
      others.map((other) => ({ one, other, score: inCommon(lines.get(one), lines.get(other)) })),
    )
    .toSorted((a, b) => b.score - a.score);
  const taken = new Set<ComparedUser>();
  return scored.flatMap(({ one, other }) => {
    if (taken.has(one) || taken.has(other)) return [];
    taken.add(one).add(other);
    return [[one, other] as const];
  });
}

function inCommon(one: ReadonlySet<string> = new Set(), other: ReadonlySet<string> = new Set()): number {
  return [...one].filter((line) => other.has(line)).length;
}

type Pair = readonly [expected: ComparedMessage | undefined, got: ComparedMessage | undefined];

function userDifferences(
  before: readonly ComparedMessage[],
  now: readonly ComparedMessage[],
  heading: string,
): DifferingMessage[] {
  const pairs = aligned(before, now);
  const extra = pairs.flatMap(([one, other]) => (one === undefined && other !== undefined ? [other] : []));
  const missing = pairs.flatMap(([one, other]) => (one !== undefined && other === undefined ? [one] : []));
  const moved = movedMessages(missing, extra);
  const arrivals = new Set(moved.values());
  const counts = new Map<string, number>();
  for (const { title } of before) counts.set(title, (counts.get(title) ?? 0) + 1);
  return pairs.flatMap(([one, other]): DifferingMessage[] => {
    const same = one === undefined ? undefined : moved.get(one);
    if (one !== undefined && same !== undefined) {
      const places = `message ${before.indexOf(one) + 1} of this user is now message ${now.indexOf(same) + 1}`;
      const differences = lineDifferences(one, same);
      const what = differences.length === 0 ? 'moved' : 'moved, and differs';
      return [{ label: `${what}: ${one.title} of ${heading}: ${places}`, differences }];
    }
    if (one !== undefined || other === undefined) return differenceOf(one, other, heading);
    if (arrivals.has(other)) return [];
    const count = counts.get(other.title) ?? 0;
    counts.set(other.title, count + 1);
    return [{ label: `not in the snapshot: ${nth(count)}${other.title} of ${heading}`, differences: [] }];
  });
}

/** Where each missing message has gone: first those that are the same elsewhere, then those that differ. Takes them out of `extra`. */
function movedMessages(
  missing: readonly ComparedMessage[],
  extra: ComparedMessage[],
): ReadonlyMap<ComparedMessage, ComparedMessage> {
  const moved = new Map<ComparedMessage, ComparedMessage>();
  for (const key of ['text', 'title'] as const) {
    for (const one of missing.filter((each) => !moved.has(each))) {
      const at = extra.findIndex((other) => other[key] === one[key]);
      const [same] = at === -1 ? [] : extra.splice(at, 1);
      if (same !== undefined) moved.set(one, same);
    }
  }
  return moved;
}

/** What stands before the title of a message that comes after `count` others of this title. */
function nth(count: number): string {
  if (count === 0) return '';
  return count < 3 ? `a ${['', 'second', 'third'][count]} ` : 'a further ';
}

function differenceOf(one: Pair[0], other: Pair[1], heading: string): DifferingMessage[] {
  const title = one?.title ?? '';
  if (one === undefined) return [];
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
function aligned(expected: readonly ComparedMessage[], got: readonly ComparedMessage[]): Pair[] {
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
function scoresOf(expected: readonly ComparedMessage[], got: readonly ComparedMessage[]): number[][] {
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
function likeness(one: ComparedMessage, other: ComparedMessage): number {
  if (one.title !== other.title) return 0;
  return one.text === other.text ? 3 : 2;
}

function alignedByPlace(expected: readonly ComparedMessage[], got: readonly ComparedMessage[]): Pair[] {
  return Array.from({ length: Math.max(expected.length, got.length) }, (_, index) => [
    expected[index],
    got[index],
  ]);
}
