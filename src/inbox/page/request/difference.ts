import { parseTree, type JsonTreeNode } from '../body/json-tree.ts';
import type { FullRequest } from '../full-request.ts';

/** The values at one place of two requests. Undefined if a request has no such place. */
export interface Difference {
  /** Part of both requests that is compared, such as `method`, `header x-signature` or `body properties.total`. */
  readonly where: string;
  readonly one: string | undefined;
  readonly other: string | undefined;
}

export const MAX_DIFFERENCES = 500;

export function differences(one: FullRequest, other: FullRequest): readonly Difference[] {
  const found = places(one, other).filter((place) => place.one !== place.other);
  const isBodySame = found.every(({ where }) => !where.startsWith('body'));
  return [...found, ...(isBodySame && !isSame(one.body, other.body) ? [OTHER_BYTES] : [])].slice(
    0,
    MAX_DIFFERENCES,
  );
}

/** Returns all places of two requests side by side, including places with equal values. */
export function places(one: FullRequest, other: FullRequest): readonly Difference[] {
  return [
    ...sideBySide(factsOf(one), factsOf(other)),
    ...sideBySide(headersOf(one), headersOf(other)),
    ...sideBySide(bodyOf(one, other.text), bodyOf(other, one.text)),
  ];
}

function sideBySide(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Difference[] {
  return [...new Set([...one.keys(), ...other.keys()])].map((where) => ({
    where,
    one: one.get(where),
    other: other.get(where),
  }));
}

function factsOf({ details: { summary } }: FullRequest): Map<string, string> {
  const { method, path, verdict, status, answered, bytes } = summary;
  return new Map(
    Object.entries({ method, path, verdict, status: String(status ?? answered), bytes: String(bytes) }),
  );
}

function headersOf({ details: { headers } }: FullRequest): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of headers) addValue(found, `header ${name.toLowerCase()}`, value);
  return found;
}

/** Difference between two bodies with the same content in different bytes. Shown because a signature covers the bytes. */
const OTHER_BYTES: Difference = {
  where: 'body',
  one: 'reads the same',
  other: 'reads the same, in other bytes: its order, spacing or spelling differs',
};

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** Values of the body: by path if both bodies are JSON, otherwise by line. */
function bodyOf({ text }: FullRequest, otherText: string): Map<string, string> {
  const tree = parseTree(text);
  const found = new Map<string, string>();
  if (tree === undefined || parseTree(otherText) === undefined) {
    for (const [index, line] of text.split('\n').entries()) found.set(`body line ${index + 1}`, line);
  } else {
    addLeaves(found, 'body', tree);
  }
  return found;
}

function addLeaves(found: Map<string, string>, where: string, node: JsonTreeNode): void {
  if (!('entries' in node)) return addValue(found, where, node.text);
  if (node.entries.length === 0) return addValue(found, where, node.kind === 'object' ? '{}' : '[]');
  for (const { key, node: value } of node.entries) addLeaves(found, `${where}${pathStep(key)}`, value);
}

/** Adds the value of a header or key to `found`. A repeated one gets all its values, separated by commas. */
function addValue(found: Map<string, string>, where: string, text: string): void {
  const known = found.get(where);
  found.set(where, known === undefined ? text : `${known}, ${text}`);
}

function pathStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
