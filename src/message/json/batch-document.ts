import { isObject } from '../../validate-options.ts';
import { BACKSLASH, COLON, trimmedBytes } from './bytes.ts';
import type { JsonValue } from '../types.ts';

const KEY = Buffer.from('"batch"');

/**
 * Whether the bytes are the start of a batch document, up to the value of its key `batch`. False for a message, which has a
 * `type` and can have a field named `batch`.
 */
export function endsInBatchKey(start: Buffer): boolean {
  if (!endsInKeyBatch(start)) return false;
  return isBatchDocument(parseJsonOrUndefined(Buffer.concat([start, Buffer.from('[]}')])));
}

/**
 * Whether bytes of JSON end in the key `batch` (without escapes) and its colon; undefined if there are too few bytes to
 * tell.
 */
export function endsInKeyBatch(start: Buffer): boolean | undefined {
  const withColon = trimmedBytes(start);
  if (withColon.length > 0 && withColon.at(-1) !== COLON) return false;
  const upToKey = trimmedBytes(withColon, 0, withColon.length - 1);
  if (upToKey.length <= KEY.length) return undefined;
  // If a backslash precedes the quote, the quote belongs to a longer key such as `"a\"batch"`.
  return upToKey.subarray(-KEY.length).equals(KEY) && upToKey.at(-KEY.length - 1) !== BACKSLASH;
}

/** Whether a value is `{"batch":[…], …}`, as clients of the tracking API send it. */
export function isBatchDocument(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['batch']) && !('type' in value);
}

/** Parses JSON; undefined if the text is not JSON. */
export function parseJsonOrUndefined(text: string | Uint8Array): JsonValue | undefined {
  try {
    return JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString()) as JsonValue; // JSON.parse returns only these
  } catch {
    return undefined;
  }
}
