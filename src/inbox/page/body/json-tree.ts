/**
 * A JSON value with its original spelling: numbers keep their digits, and duplicate keys are kept.
 *
 * The page needs its own parser, because `JSON.parse` loses digits and duplicate keys, and the parsers of `src/message/json`
 * do not build values.
 */
export type JsonTreeNode =
  | { readonly kind: 'object' | 'array'; readonly entries: readonly TreeEntry[] }
  /** `text` is the original spelling, with quotes and escapes. */
  | { readonly kind: 'string' | 'number' | 'word'; readonly text: string };

export interface TreeEntry {
  readonly key: string | number;
  readonly node: JsonTreeNode;
}

/** Maximum depth of a tree. Messages are never deeper, and the browser's stack is limited. */
const MAX_DEPTH = 512;

/** Parses JSON. Undefined if the text is not JSON, or nested too deeply. */
export function parseTree(text: string): JsonTreeNode | undefined {
  try {
    JSON.parse(text);
    return readNode({ text, at: 0 }, 0);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The value of a JSON string. */
export function unquoted(text: string): string {
  // The text was parsed as a JSON string before.
  return JSON.parse(text) as string;
}

/** Formats a node with the original spelling, indented by two spaces. */
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

/** Position of the parser in a valid JSON text. */
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

/** Skips white space, and returns the next character without consuming it. */
function nextOf(cursor: JsonTreeCursor): string | undefined {
  take(cursor, /[ \t\r\n]*/y);
  return cursor.text[cursor.at];
}

/** Consumes a string. Does not use a regular expression, whose engine fails on a megabyte of escapes. */
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
