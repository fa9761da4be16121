import { BACKSLASH, COLON, trimmedBytes } from './bytes.ts';
import type { JsonValue } from '../types.ts';

const KEY = Buffer.from('"batch"');

/**
 * Whether these bytes are an object up to the value of its key `batch`, and that object is not a message: a message
 * has a `type`, and may have a field named `batch` as any other.
 */
export function endsInBatchKey(start: Buffer): boolean {
  if (!endsInKeyBatch(start)) return false;
  const object = parseJsonOrUndefined(Buffer.concat([start, Buffer.from('[]}')]));
  return isBatchDocument(object);
}

/** Whether bytes of JSON end in the key `batch`, spelled without escapes, and its colon; undefined when they are too few to tell. */
export function endsInKeyBatch(start: Buffer): boolean | undefined {
  const withColon = trimmedBytes(start);
  if (withColon.length > 0 && withColon.at(-1) !== COLON) return false;
  const upToKey = trimmedBytes(withColon, 0, withColon.length - 1);
  if (upToKey.length <= KEY.length) return undefined;
  // Only a quote inside a key follows a backslash.
  return upToKey.subarray(-KEY.length).equals(KEY) && upToKey.at(-KEY.length - 1) !== BACKSLASH;
}

/** Whether a value is `{"batch":[…], …}`, which clients of the tracking API send. */
export function isBatchDocument(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'batch' in value && Array.isArray(value.batch) && !('type' in value);
}

/** The value, or undefined when it is not JSON. */
export function parseJsonOrUndefined(text: string | Uint8Array): JsonValue | undefined {
  try {
    return JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString()) as JsonValue; // what JSON.parse gives
  } catch {
    return undefined;
  }
}
