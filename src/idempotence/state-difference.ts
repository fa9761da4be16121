import { isObject } from '../validate-options.ts';

/**
 * Whether two states have the same content. Ignores the order of lines and of items in JSON lists, which is mostly the order
 * of arrival and so differs between schedules. Also ignores the order of JSON keys.
 */
export function isSameState(one: string, other: string): boolean {
  return one === other || orderless(one) === orderless(other);
}

function orderless(state: string): string {
  return sortedJson(state) ?? state.split(/\r?\n/).map(plainLine).toSorted().join('\n').trim();
}

function plainLine(line: string): string {
  return sortedJson(line) ?? line.trimEnd();
}

/** JSON text with keys and list items sorted. Undefined if the text is not a JSON object or list. */
function sortedJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(sorted(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

/**
 * Sorts the keys of objects and the items of lists. Replaces each list item by its sorted JSON text, by which items are
 * compared.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(sorted(item))).toSorted();
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** Whether a state has everything that is expected, and more: additional lines, or larger numbers in the same text. */
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

/**
 * Whether two states differ only in the first number of each row, which grows by 1 per row in the expected state, as
 * AUTOINCREMENT does.
 */
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

/** Lines that only the expected or only the actual state has, each as often as it is missing or added. */
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

/** Describes the first line that differs: ``line 3 differs: `a` and `b` ``. */
export function differenceText(one: string, other: string): string {
  const [lines, others] = [linesOf(one), linesOf(other)];
  const differing = lines.findIndex((line, at) => line !== others[at]);
  const at = differing === -1 ? lines.length : differing;
  const from = excerptStart(lines[at] ?? '', others[at] ?? '');
  return `line ${at + 1} differs: ${lineText(lines[at], from)} and ${lineText(others[at], from)}`;
}

const EXCERPT_LENGTH = 80;
/** Characters to show of two long lines before the place where they differ. */
const CONTEXT_LENGTH = 20;

/** Index of the first character to show of two long lines, so that their difference is visible. */
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
