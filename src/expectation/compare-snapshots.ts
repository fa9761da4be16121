import type { DifferingMessage, MessageDifference } from './expectation-result.ts';
import type { SnapshotMessage, SnapshotUser } from './snapshot.ts';

/**
 * Lists the messages that differ between a snapshot and the arrived messages, by user. Includes missing and additional
 * messages.
 */
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
    const text = compared.map((message) => message.text).join('\n\n');
    const user = { messages: compared, text, lines: new Set(text.split('\n')) };
    const same = byHeading.get(heading);
    if (same === undefined) byHeading.set(heading, [user]);
    else same.push(user);
  }
  return byHeading;
}

interface ComparedMessage extends SnapshotMessage {
  /** The title and the lines of the message as one text. */
  readonly text: string;
}

interface ComparedUser {
  readonly messages: readonly ComparedMessage[];
  readonly text: string;
  readonly lines: ReadonlySet<string>;
}

function textOf({ title, lines }: SnapshotMessage): string {
  return [title, ...lines].join('\n');
}

/**
 * Maximum number of pairs of users to compare, because the cost is the product of both numbers. Above this maximum, users
 * are paired in order.
 */
const MAX_USER_PAIRS = 100_000;

type UserPair = readonly [expected: ComparedUser | undefined, got: ComparedUser | undefined];

/** Pairs users of one heading, such as `user <anonymous-id>`: equal users first, then the most similar. */
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
  return [...pairs, ...pairedInOrder(ones, others)];
}

function pairedInOrder<Item>(
  ones: readonly Item[],
  others: readonly Item[],
): (readonly [Item | undefined, Item | undefined])[] {
  const length = Math.max(ones.length, others.length);
  return Array.from({ length }, (_, index) => [ones[index], others[index]] as const);
}

function likelyPairs(
  ones: readonly ComparedUser[],
  others: readonly ComparedUser[],
): readonly (readonly [ComparedUser, ComparedUser])[] {
  if (ones.length * others.length > MAX_USER_PAIRS) return [];
  const scored = ones
    .flatMap((one) => others.map((other) => ({ one, other, score: inCommon(one, other) })))
    .toSorted((a, b) => b.score - a.score);
  const taken = new Set<ComparedUser>();
  return scored.flatMap(({ one, other }) => {
    if (taken.has(one) || taken.has(other)) return [];
    taken.add(one).add(other);
    return [[one, other] as const];
  });
}

function inCommon(one: ComparedUser, other: ComparedUser): number {
  return [...one.lines].filter((line) => other.lines.has(line)).length;
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
    if (one !== undefined && other !== undefined) {
      const differences = lineDifferences(one, other);
      return differences.length === 0 ? [] : [{ label: `${one.title} of ${heading}`, differences }];
    }
    if (one !== undefined) return [{ label: `missing: ${one.title} of ${heading}`, differences: [] }];
    if (other === undefined || arrivals.has(other)) return [];
    const count = counts.get(other.title) ?? 0;
    counts.set(other.title, count + 1);
    return [{ label: `not in the snapshot: ${nth(count)}${other.title} of ${heading}`, differences: [] }];
  });
}

/**
 * Pairs each missing message with the additional message to which it moved: unchanged messages first, then changed ones with
 * the same title. Removes these additional messages from `extra`.
 */
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

/** Ordinal of a message that follows `count` messages with the same title, to put before the title: `a second `. */
function nth(count: number): string {
  if (count === 0) return '';
  return count < 3 ? `a ${['', 'second', 'third'][count]} ` : 'a further ';
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
  // The pattern skips ` = ` inside a quoted key of the path.
  const [, path = line, value = ''] = /^((?:\["(?:[^"\\]|\\.)*"\]|[^"])*?) = (.*)$/s.exec(line) ?? [];
  return [path, value];
}

/**
 * Maximum number of pairs of messages to align, because the cost is the product of the numbers of messages in both
 * snapshots. Above this maximum, messages are paired in order.
 */
const MAX_PAIRS = 4_000_000;

/** Pairs expected and received messages, in order, so that as many as possible are equal or have at least the same title. */
function aligned(expected: readonly ComparedMessage[], got: readonly ComparedMessage[]): Pair[] {
  if (expected.length * got.length > MAX_PAIRS) return pairedInOrder(expected, got);
  const scores = scoresOf(expected, got);
  const pairs: Pair[] = [];
  let [row, column] = [0, 0];
  while (row < expected.length || column < got.length) {
    const [one, other] = [expected[row], got[column]];
    const score = scoreAt(scores, row, column);
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

/**
 * Scores of the best pairings of the messages that remain from each row and column on (weighted longest common subsequence).
 */
function scoresOf(expected: readonly ComparedMessage[], got: readonly ComparedMessage[]): number[][] {
  const scores = Array.from({ length: expected.length + 1 }, () => Array<number>(got.length + 1).fill(0));
  for (let row = expected.length - 1; row >= 0; row--) {
    for (let column = got.length - 1; column >= 0; column--) {
      const [one, other, line] = [expected[row], got[column], scores[row]];
      if (one === undefined || other === undefined || line === undefined) continue;
      const paired = likeness(one, other) + scoreAt(scores, row + 1, column + 1);
      line[column] = Math.max(paired, scoreAt(scores, row + 1, column), scoreAt(scores, row, column + 1));
    }
  }
  return scores;
}

function scoreAt(scores: readonly (readonly number[])[], row: number, column: number): number {
  return scores[row]?.[column] ?? 0;
}

/** Weight of a pair of messages: 3 if they are equal, 2 if only their titles are, 0 otherwise. */
function likeness(one: ComparedMessage, other: ComparedMessage): number {
  if (one.title !== other.title) return 0;
  return one.text === other.text ? 3 : 2;
}
