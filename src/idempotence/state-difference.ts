import { isObject } from '../validate-options.ts';

/**
 * Whether two states say the same. The order of lines, and of the items of JSON lists, does not count: it is mostly that of arrival, which
 * schedules change; nor does that of the keys of JSON.
 */
export function isSameState(one: string, other: string): boolean {
  return one === other || orderless(one) === orderless(other);
}

function orderless(state: string): string {
  const value = jsonOf(state);
  if (value !== undefined) return JSON.stringify(sorted(value));
  return state.split(/\r?\n/).map(plainLine).toSorted().join('\n').trim();
}

/** A line that is JSON with its keys in order. */
function plainLine(line: string): string {
  const value = jsonOf(line);
  return value === undefined ? line.trimEnd() : JSON.stringify(sorted(value));
}

function jsonOf(state: string): unknown {
  if (!/^\s*[[{]/.test(state)) return undefined;
  try {
    return JSON.parse(state);
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => sorted(item)).toSorted((one, other) => compareTexts(one, other));
  }
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

function compareTexts(one: unknown, other: unknown): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** Whether a state has everything that it must have, and more: further lines, or greater numbers in the same text. */
export function hasMore(expected: string, got: string): boolean {
  const { missing, added } = differingLines(expected, got);
  if (missing.length === 0) return added.length > 0;
  if (withoutNumbers(expected) !== withoutNumbers(got)) return false;
  const [must, are] = [numbersOf(expected), numbersOf(got)];
  return must.every((number, at) => (are[at] ?? 0) >= number);
}

function withoutNumbers(state: string): string {
  return state.trimEnd().replace(/\d+/g, '#');
}

function numbersOf(state: string): number[] {
  return (state.match(/\d+/g) ?? []).map(Number);
}

/** Whether two states differ only in the number with which each row begins, 1 more from row to row in the first state: that of AUTOINCREMENT. */
export function skipsNumbers(expected: string, got: string): boolean {
  const [must, are] = [numberedRows(expected), numberedRows(got)];
  return (
    must.length > 1 &&
    must.length === are.length &&
    must.every((row, at) => {
      const [last, other, lastOther] = [must[at - 1], are[at], are[at - 1]];
      const isNext = last === undefined || (row.number === last.number + 1 && row.before === last.before);
      const isLater = lastOther === undefined || (other?.number ?? 0) > lastOther.number;
      return isNext && isLater && other?.before === row.before && other.after === row.after;
    })
  );
}

function numberedRows(state: string) {
  return state
    .trimEnd()
    .split(/\r?\n|(?<=[}\]]),\s*(?=[{[])/)
    .map((row) => {
      const [, before = '', number = '', after = ''] = /^(\D*)(\d+)(.*)$/.exec(row.trim()) ?? [];
      return { before: before.replace(/^\[/, ''), number: Number(number), after: after.replace(/\]$/, '') };
    });
}

export interface LineDifference {
  /** Counts from 1, in the first state. */
  readonly line: number;
  readonly expected: string | undefined;
  readonly got: string | undefined;
}

/** The first line in which two states differ. */
function firstDifference(expected: string, got: string): LineDifference {
  const [one, other] = [linesOf(expected), linesOf(got)];
  const at = one.findIndex((line, index) => line !== other[index]);
  const index = at === -1 ? one.length : at;
  return { line: index + 1, expected: one[index], got: other[index] };
}

/** The lines that one of two states has and the other has not, each as often as it is missing. */
export function differingLines(expected: string, got: string): { missing: string[]; added: string[] } {
  return {
    missing: without(linesOf(expected), linesOf(got)),
    added: without(linesOf(got), linesOf(expected)),
  };
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others.map(plainLine)) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((each) => {
    const line = plainLine(each);
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    return count === 0;
  });
}

function linesOf(state: string): string[] {
  return state.trimEnd().split(/\r?\n/);
}

/** The first line that differs, in words: ``line 3 differs: `a` and `b` ``. */
export function differenceText(one: string, other: string): string {
  const { line, expected, got } = firstDifference(one, other);
  const from = excerptStart(expected ?? '', got ?? '');
  return `line ${line} differs: ${lineText(expected, from)} and ${lineText(got, from)}`;
}

const EXCERPT_LENGTH = 80;
/** What both lines have before the difference. */
const CONTEXT_LENGTH = 20;

/** Where to begin with showing two lines, so that what differs is seen. */
function excerptStart(one: string, other: string): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  return same < EXCERPT_LENGTH - CONTEXT_LENGTH ? 0 : same - CONTEXT_LENGTH;
}

function lineText(line: string | undefined, from: number): string {
  if (line === undefined) return 'nothing';
  const end = from + EXCERPT_LENGTH;
  return `\`${from > 0 ? '…' : ''}${line.slice(from, end)}${line.length > end ? '…' : ''}\``;
}
