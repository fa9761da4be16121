import {
  CLOSE_BRACKET,
  COMMA,
  isBlank,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipBlanks,
} from '../../message/json/bytes.ts';
import { endsInKeyBatch } from '../../message/json/batch-document.ts';
import { endOfString } from '../../message/json/scan-json.ts';
import { ValueScan } from '../../message/json/value-scan.ts';

/** The byte ranges of the items of the array `batch` in a JSON object. */
export interface BatchItems {
  /** First byte of each item, and the byte after its last. */
  readonly items: readonly (readonly [start: number, end: number])[];
  /** JSON of the request without its items: the outermost object, with `[]` as its `batch`. */
  readonly rest: Uint8Array;
}

/**
 * Finds the items of a batch in valid JSON. Undefined if the outermost object has no array `batch`, or spells the key with
 * escapes.
 */
export function batchItems(bytes: Buffer): BatchItems | undefined {
  const scan = new ValueScan();
  const start = startOfBatch(bytes, scan);
  if (start === undefined) return undefined;
  const items: [number, number][] = [];
  let at = skipBlanks(bytes, start);
  while (at < bytes.length && bytes[at] !== CLOSE_BRACKET) {
    const end = endOfValue(bytes, at, scan);
    items.push([at, end]);
    at = skipBlanks(bytes, end);
    if (bytes[at] === COMMA) at = skipBlanks(bytes, at + 1);
  }
  return { items, rest: Buffer.concat([bytes.subarray(0, start), bytes.subarray(at)]) };
}

/** The offset after the `[` of the first array whose key is `batch`, in the outermost object. */
function startOfBatch(bytes: Buffer, scan: ValueScan): number | undefined {
  const object = skipBlanks(bytes);
  if (bytes[object] !== OPEN_BRACE) return undefined;
  scan.begin(OPEN_BRACE);
  let event = scan.scan(bytes, object + 1);
  while (event === 'list') {
    if (endsInKeyBatch(bytes.subarray(0, scan.at - 1))) return scan.at;
    event = scan.scan(bytes, scan.at);
  }
  return undefined;
}

function endOfValue(bytes: Buffer, start: number, scan: ValueScan): number {
  const first = bytes[start] ?? 0;
  if (first === QUOTE) return endOfString(bytes, start) + 1;
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    scan.begin(first);
    let event = scan.scan(bytes, start + 1);
    while (event === 'list') event = scan.scan(bytes, scan.at);
    return scan.at + 1;
  }
  let end = start;
  while (end < bytes.length && bytes[end] !== COMMA && bytes[end] !== CLOSE_BRACKET && !isBlank(bytes[end])) {
    end++;
  }
  return end;
}
