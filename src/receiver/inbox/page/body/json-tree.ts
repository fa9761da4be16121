/** A JSON value as it is written: numbers keep their digits, a key that comes twice is there twice. */
export type JsonTreeNode =
  | { readonly kind: 'object' | 'array'; readonly entries: readonly TreeEntry[] }
  /** `text` as spelled, quotes and escapes included. */
  | { readonly kind: 'string' | 'number' | 'word'; readonly text: string };

export interface TreeEntry {
  readonly key: string | number;
  readonly node: JsonTreeNode;
}

/** Deeper than this nothing is read: it is no message, and a browser's stack has an end. */
const MAX_DEPTH = 512;

/** Undefined for what is no JSON, or too deep. */
export function parseTree(text: string): JsonTreeNode | undefined {
  const cursor: Cursor = { text, at: 0 };
  try {
    const node = readNode(cursor, 0);
    skipSpace(cursor);
    return cursor.at === text.length ? node : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The value of a string as it is spelled. */
export function unquoted(text: string): string {
  // What has been read as a string of JSON gives one.
  return JSON.parse(text) as string;
}

/** Spelled the same, indented by two spaces. */
export function pretty(node: JsonTreeNode, indent = ''): string {
  if (!('entries' in node)) return node.text;
  const [open, close] = node.kind === 'object' ? '{}' : '[]';
  if (node.entries.length === 0) return `${open}${close}`;
  const inner = `${indent}  `;
  const lines = node.entries.map(
    ({ key, node: value }) =>
      `${inner}${typeof key === 'string' ? `${JSON.stringify(key)}: ` : ''}${pretty(value, inner)}`,
  );
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

interface Cursor {
  readonly text: string;
  at: number;
}

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

function readNode(cursor: Cursor, depth: number): JsonTreeNode {
  if (depth > MAX_DEPTH) throw new SyntaxError('too deep');
  skipSpace(cursor);
  switch (cursor.text[cursor.at]) {
    case '{':
      return { kind: 'object', entries: readEntries(cursor, depth, '}') };
    case '[':
      return { kind: 'array', entries: readEntries(cursor, depth, ']') };
    case '"':
      return { kind: 'string', text: takeString(cursor) };
    case 't':
    case 'f':
    case 'n':
      return { kind: 'word', text: take(cursor, WORD) };
    default:
      return { kind: 'number', text: take(cursor, NUMBER) };
  }
}

function readEntries(cursor: Cursor, depth: number, close: '}' | ']'): TreeEntry[] {
  cursor.at += 1;
  const entries: TreeEntry[] = [];
  if (isNext(cursor, close)) return entries;
  do {
    const key = close === ']' ? entries.length : readKey(cursor);
    entries.push({ key, node: readNode(cursor, depth + 1) });
  } while (isNext(cursor, ','));
  if (!isNext(cursor, close)) throw new SyntaxError('not closed');
  return entries;
}

function readKey(cursor: Cursor): string {
  skipSpace(cursor);
  const key = unquoted(takeString(cursor));
  if (!isNext(cursor, ':')) throw new SyntaxError('no colon');
  return key;
}

/** Goes past a character when it is the next one. */
function isNext(cursor: Cursor, character: string): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== character) return false;
  cursor.at += 1;
  return true;
}

function skipSpace(cursor: Cursor): void {
  take(cursor, SPACE);
}

/** Not by a pattern, whose engine gives up on a megabyte of escapes. */
function takeString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  if (text[start] !== '"') throw new SyntaxError('no string');
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) throw new SyntaxError('not closed');
  cursor.at = end + 1;
  const spelled = text.slice(start, cursor.at);
  // Throws a SyntaxError for what JSON does not allow in it.
  unquoted(spelled);
  return spelled;
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text[from - 1] === '\\') from -= 1;
  return (at - from) % 2 === 1;
}

function take(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at;
  const [found] = pattern.exec(cursor.text) ?? [];
  if (found === undefined) throw new SyntaxError('unexpected');
  cursor.at += found.length;
  return found;
}
