import { HooksError } from '../../errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { captureBody, type HeaderPair } from '../capture.ts';
import { isHttpRequest, readHttpRequest } from '../http-request.ts';
import { REPLACED, statedLength } from './imported.ts';

const BODIES = ['body', 'content', 'rawBody', 'raw_body', 'payload', 'data'];

type BodyFound = { readonly bytes: Uint8Array } | { readonly reason: string };

/**
 * The body of a request, or why its exact bytes are unknown. A text is proved by the length of the body, if it is recorded; the
 * formats that lose bytes need that proof.
 */
export function bodyOf(fields: JsonObject, headers: readonly HeaderPair[]): BodyFound | undefined {
  const { bodySize } = fields;
  const length =
    statedLength(headers) ?? (typeof bodySize === 'number' && bodySize >= 0 ? bodySize : undefined);
  const found = storedBody(fields);
  if (found !== undefined && 'reason' in found) return found;
  const { bytes, isExact = false, mayLose = false } = found ?? { bytes: Buffer.alloc(0) };
  if (bytes.length === 0) {
    const isRecorded = length === undefined || length === 0;
    return isRecorded
      ? undefined
      : { reason: `its body is not recorded, but the request had ${length} bytes` };
  }
  if (!isExact && bytes.includes('\u{FFFD}')) return { reason: REPLACED };
  if (length !== undefined && length !== bytes.length) {
    return { reason: `${bytes.length} bytes are recorded, but the request had ${length}` };
  }
  if (length === undefined && mayLose) {
    return { reason: 'its length is not recorded, so the text may be incomplete' };
  }
  return { bytes };
}

interface StoredBody {
  readonly bytes: Buffer;
  /** Whether the bytes are recorded, and not a text of them. */
  readonly isExact?: boolean;
  /** Whether the format does not keep all bytes, so that only the length proves them. */
  readonly mayLose?: boolean;
}

function storedBody(fields: JsonObject): StoredBody | { readonly reason: string } | undefined {
  const { raw, postData, bodyBase64, isBase64Encoded, encoding } = fields;
  if (typeof raw === 'string') return rawBody(Buffer.from(raw, 'base64'));
  if (isJsonObject(postData)) return harBody(postData);
  if (typeof bodyBase64 === 'string') return { bytes: Buffer.from(bodyBase64, 'base64'), isExact: true };
  const value = BODIES.map((key) => fields[key]).find(
    (each) => each !== undefined && each !== null && each !== '',
  );
  if (value === undefined) return undefined;
  if (typeof value === 'string') return encodedBody(value, isBase64Encoded === true || encoding === 'base64');
  const { mode, raw: text, type, data } = isJsonObject(value) ? value : {};
  if (mode === 'raw' && typeof text === 'string') return { bytes: utf8(text) };
  if (type === 'Buffer' && isJsonArray(data)) return { bytes: Buffer.from(data.map(Number)), isExact: true };
  return parsedBody(value);
}

/** The body of a whole request in base64, as ngrok keeps it: up to 10 KB, so it may be cut off. */
function rawBody(bytes: Buffer): StoredBody | { readonly reason: string } | undefined {
  if (!isHttpRequest(bytes)) return { reason: 'its field `raw` is not an HTTP request in base64' };
  try {
    return { bytes: Buffer.from(captureBody(readHttpRequest(bytes))), isExact: true };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    return { reason: error.message };
  }
}

/** The body of a HAR file, which has no notation for bytes that are not text. */
function harBody({
  text,
  encoding,
  params,
}: JsonObject): StoredBody | { readonly reason: string } | undefined {
  if (typeof text === 'string' && text !== '') {
    return { ...encodedBody(text, encoding === 'base64'), mayLose: true };
  }
  const isForm = isJsonArray(params) && params.length > 0;
  return isForm ? { reason: 'the file lists its form fields, and not the bytes of its body' } : undefined;
}

function encodedBody(text: string, isBase64: boolean): StoredBody {
  return isBase64 ? { bytes: Buffer.from(text, 'base64'), isExact: true } : { bytes: utf8(text) };
}

/**
 * The body of a tool that keeps it as parsed JSON. It is written again as JSON.stringify does, which changes the order of keys
 * that are numbers. Many programs sort the keys of what they log, such as those in Go, and a length does not show that.
 */
function parsedBody(value: JsonValue): StoredBody | { readonly reason: string } {
  const keys: string[][] = [];
  const text = JSON.stringify(value, (_, each: JsonValue) => {
    if (isJsonObject(each)) keys.push(Object.keys(each));
    return each;
  });
  const isSorted = areSorted(keys.filter(({ length }) => length > 1));
  if (isSorted || /"\d+":/.test(text)) {
    const which = isSorted
      ? 'with sorted keys, so their order as sent is unknown'
      : 'whose order of keys may differ';
    return { reason: `its body is recorded as parsed JSON, ${which}` };
  }
  return { bytes: utf8(text), mayLose: true };
}

/** Orders of programs that sort keys: by their characters or, as jsonb of Postgres does, first by their length. */
const KEY_ORDERS: readonly ((a: string, b: string) => number)[] = [
  (a, b) => (a < b ? -1 : 1),
  (a, b) => a.length - b.length || (a < b ? -1 : 1),
];

function areSorted(lists: readonly (readonly string[])[]): boolean {
  const isSorted = (order: (typeof KEY_ORDERS)[number]): boolean =>
    lists.every((keys) => keys.join('\n') === keys.toSorted(order).join('\n'));
  return lists.length > 0 && KEY_ORDERS.some(isSorted);
}

/** UTF-8 of a text. A lone surrogate becomes U+FFFD, which is then rejected. */
function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
