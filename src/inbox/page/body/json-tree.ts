/**
 * A JSON value as it is written: numbers keep their digits, and a duplicate key is there twice.
 *
 * No other reader of JSON here runs in a browser and keeps the spelling, which the page shows: `JSON.parse` loses digits and
 * duplicate keys, and the readers of `src/message/json` build no values.
 */
export type JsonTreeNode =
  | { readonly kind: 'object' | 'array'; readonly entries: readonly TreeEntry[] }
  /** `text` as spelled, quotes and escapes included. */
  | { readonly kind: 'string' | 'number' | 'word'; readonly text: string };

export interface TreeEntry {
  readonly key: string | number;
  readonly node: JsonTreeNode;
}

/** Deeper than this nothing is shown: it is no message, and a browser's stack has an end. */
const MAX_DEPTH = 512;

/** Undefined for what is no JSON, or too deep. */
export function parseTree(text: string): JsonTreeNode | undefined {
  try {
    JSON.parse(text);
    return readNode({ text, at: 0 }, 0);
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

/** Where reading is in a text that is JSON. */
interface JsonTreeCursor {
  readonly text: string;
  at: number;
}

function readNode(cursor: JsonTreeCursor, depth: number): JsonTreeNode {
  if (depth > MAX_DEPTH) throw new SyntaxError('too deep');
  switch (nextOf(cursor)) {
    case '{':
      return { kind: 'object', entries: readEntries(cursor, depth, '}') };
    case '[':
      return { kind: 'array', entries: readEntries(cursor, depth, ']') };
    case '"':
      return { kind: 'string', text: takeString(cursor) };
    default: {
      const text = take(cursor, /[^\s,\]}]*/y);
      return { kind: /^[-\d]/.test(text) ? 'number' : 'word', text };
    }
  }
}

function readEntries(cursor: JsonTreeCursor, depth: number, close: '}' | ']'): TreeEntry[] {
  const entries: TreeEntry[] = [];
  cursor.at += 1;
  while (nextOf(cursor) !== close) {
    const key = close === ']' ? entries.length : unquoted(takeString(cursor));
    if (nextOf(cursor) === ':') cursor.at += 1;
    entries.push({ key, node: readNode(cursor, depth + 1) });
    if (nextOf(cursor) === ',') cursor.at += 1;
  }
  cursor.at += 1;
  return entries;
}

/** The next character that is no white space. */
function nextOf(cursor: JsonTreeCursor): string | undefined {
  take(cursor, /[ \t\r\n]*/y);
  return cursor.text[cursor.at];
}

/** Not by a pattern, whose engine gives up on a megabyte of escapes. */
function takeString(cursor: JsonTreeCursor): string {
  const { text, at: start } = cursor;
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  cursor.at = end + 1;
  return text.slice(start, cursor.at);
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text[from - 1] === '\\') from -= 1;
  return (at - from) % 2 === 1;
}

function take(cursor: JsonTreeCursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at;
  const [found = ''] = pattern.exec(cursor.text) ?? [];
  cursor.at += found.length;
  return found;
}
