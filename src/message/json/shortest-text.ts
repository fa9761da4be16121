import { MAX_DEPTH } from '../limits.ts';
import type { JsonObject, JsonValue } from '../types.ts';

/**
 * No JSON text that gives this value is shorter, in UTF-16 units. One that is exactly as long loses nothing: a duplicate
 * key, an escape or white space would make it longer, and a number of so few digits keeps its value. NaN when that
 * cannot be said of a number in it, or when it is nested too deep. On the hot path, so that it calls itself for objects
 * and arrays only.
 */
export function shortestLength(value: JsonValue, depthLeft = MAX_DEPTH): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return lengthOfNumber(value);
  if (typeof value === 'boolean' || value === null) return value === false ? 5 : 4;
  if (depthLeft === 0) return NaN;
  return isArray(value) ? lengthOfArray(value, depthLeft - 1) : lengthOfObject(value, depthLeft - 1);
}

function lengthOfArray(items: readonly JsonValue[], depthLeft: number): number {
  let length = items.length === 0 ? 2 : items.length + 1;
  for (const item of items) length += shortestLength(item, depthLeft);
  return length;
}

function lengthOfObject(members: JsonObject, depthLeft: number): number {
  let length = 1;
  for (const key in members) length += key.length + 4 + shortestLength(members[key] ?? null, depthLeft);
  return length === 1 ? 2 : length;
}

/** 15 decimal digits always fit a double. */
const SAFE_LENGTH = 15;
const SAFE_SIZE = 10 ** SAFE_LENGTH;

/** An exponent could be shorter than three zeros at the end, or than two after the point. */
function lengthOfNumber(value: number): number {
  if (value === 0) return 1;
  const size = Math.abs(value);
  if (size < 0.01 || size >= SAFE_SIZE || size % 1000 === 0) return NaN;
  const { length } = String(value);
  return length <= SAFE_LENGTH ? length : NaN;
}

/** Array.isArray does not narrow a readonly array. */
function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
