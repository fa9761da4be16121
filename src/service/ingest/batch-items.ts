import { endOfString } from '../../message/json/scan-json.ts';

/** Where the items of the array `batch` of a JSON object lie in its bytes. */
export interface BatchItems {
  /** Start and end of each. */
  readonly items: readonly (readonly [start: number, end: number])[];
  /** The object without them: what is left to be read by itself. */
  readonly rest: Uint8Array;
}

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Takes bytes that are known to be JSON. Undefined: there is no array `batch` at the top, spelled without escapes. */
export function batchItems(bytes: Uint8Array): BatchItems | undefined {
  const array = startOfBatch(bytes);
  if (array === undefined) return undefined;
  const items: [number, number][] = [];
  let start = array + 1;
  const end = walk(bytes, start, (at, depth, byte) => {
    if (depth > 0 || (byte !== COMMA && byte !== CLOSE_ARRAY)) return false;
    const item = trimmed(bytes, start, at);
    if (item[0] < item[1]) items.push(item);
    start = at + 1;
    return byte === CLOSE_ARRAY;
  });
  return { items, rest: Buffer.concat([bytes.subarray(0, array + 1), bytes.subarray(end)]) };
}

/** The place of the `[` after the key `batch` of the outermost object. */
function startOfBatch(bytes: Uint8Array): number | undefined {
  let found: number | undefined;
  let key = '';
  walk(bytes, 0, (at, depth, byte, string) => {
    if (depth === 1 && string !== '') key = string;
    // An array opens before it counts as a level of its own.
    if (depth === 2 && byte === OPEN_ARRAY && key === 'batch' && precededByColon(bytes, at)) found = at;
    return found !== undefined;
  });
  return found;
}

function precededByColon(bytes: Uint8Array, at: number): boolean {
  let before = at - 1;
  while (isSpace(bytes[before])) before--;
  return bytes[before] === COLON;
}

/**
 * Calls `visit` for each byte outside strings, with the depth after it, and once for each string. Ends when `visit`
 * returns true; returns the index where it ended.
 */
function walk(
  bytes: Uint8Array,
  from: number,
  visit: (at: number, depth: number, byte: number, string: string) => boolean,
): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    let string = '';
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      string = Buffer.from(bytes.subarray(at + 1, end)).toString();
      at = end;
    }
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
    if (visit(at, depth, byte, string)) return at;
    if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
  }
  return bytes.length;
}

function trimmed(bytes: Uint8Array, from: number, to: number): [number, number] {
  let [start, end] = [from, to];
  while (start < end && isSpace(bytes[start])) start++;
  while (start < end && isSpace(bytes[end - 1])) end--;
  return [start, end];
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
