import { formatPath, type PathStep } from './json/json-path.ts';
import { MAX_DEPTH } from './limits.ts';
import { shownValue, type Problem } from './problem.ts';
import type { JsonValue } from './types.ts';

export type Plain =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: Problem };

/**
 * Converts a value to JSON: returns the value itself if it already is plain, else a copy. Calls `toJSON`, so that a Date
 * becomes its ISO text, and drops `undefined` like JSON.stringify. Values that JSON would lose (NaN, a BigInt, a Map, a
 * function) and cycles are problems, with their path.
 */
export function toPlain(value: unknown, key: string): Plain {
  if (isPlain(value, MAX_DEPTH - 1)) return { ok: true, value };
  const copier = new Copier();
  const copy = copier.copy(value, [key], []);
  return copier.problem === undefined
    ? { ok: true, value: copy ?? null }
    : { ok: false, problem: copier.problem };
}

/** Whether a value is plain JSON. A fast test for values from JSON, because it neither tracks paths nor copies. */
function isPlain(value: unknown, depthLeft: number): value is JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depthLeft === 0) return false;
  if (Array.isArray(value)) return isPlainArray(value, depthLeft);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) {
    if (!isPlain((value as Record<string, unknown>)[key], depthLeft - 1)) return false; // an object, as checked above
  }
  return true;
}

/** Iterates by index, because a hole in an array is not JSON and `every` skips holes. */
function isPlainArray(items: readonly unknown[], depthLeft: number): boolean {
  for (let index = 0; index < items.length; index++) {
    if (!isPlain(items[index], depthLeft - 1)) return false;
  }
  return true;
}

/** Copies a value as plain JSON, and keeps the first problem that it finds, with its path. */
class Copier {
  problem: Problem | undefined;

  copy(given: unknown, path: readonly PathStep[], parents: readonly object[]): JsonValue | undefined {
    if (this.problem !== undefined) return undefined;
    const value = unwrapped(given, path);
    if (isPlain(value, 0)) return value;
    if (value === undefined) return undefined;
    const notPlain = whyNotPlain(value, parents);
    if (notPlain !== undefined || typeof value !== 'object' || value === null) {
      this.problem = problemAt(path, value, notPlain ?? NOT_JSON);
      return undefined;
    }
    const within = [...parents, value];
    return Array.isArray(value) ? this.#items(value, path, within) : this.#members(value, path, within);
  }

  #items(items: readonly unknown[], path: readonly PathStep[], parents: readonly object[]): JsonValue[] {
    return Array.from(items, (item, index) => this.copy(item, [...path, index], parents) ?? null);
  }

  #members(members: object, path: readonly PathStep[], parents: readonly object[]): JsonValue {
    const copy: Record<string, JsonValue> = {};
    for (const [key, member] of Object.entries(members)) {
      const value = this.copy(member, [...path, key], parents);
      if (value !== undefined) put(copy, key, value);
    }
    return copy;
  }
}

/** The result of `toJSON` if the value has that method (a Date does), else the value, like JSON.stringify. */
function unwrapped(value: unknown, path: readonly PathStep[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // An invalid Date is returned as it is, so that the caller reports it: its `toJSON` would make it null.
  if (value instanceof Date && Number.isNaN(value.getTime())) return value;
  if (!('toJSON' in value) || typeof value.toJSON !== 'function') return value;
  const replaced: unknown = value.toJSON(String(path.at(-1)));
  return replaced;
}

/**
 * Why a value is not plain. `expected` completes a sentence: Expected `properties.at` to be `a value that JSON can carry`.
 */
interface NotPlain {
  readonly expected: string;
  readonly hint: string;
}

const NOT_JSON: NotPlain = { expected: 'a value that JSON can carry', hint: 'send it as a string' };

function whyNotPlain(value: unknown, parents: readonly object[]): NotPlain | undefined {
  if (typeof value !== 'object' || value === null) return NOT_JSON;
  if (parents.includes(value)) {
    return { expected: 'an object that does not contain itself', hint: 'leave the reference out' };
  }
  // The comparison is with one level less, because `parents` does not include the message itself.
  if (parents.length >= MAX_DEPTH - 1) {
    return { expected: `at most ${MAX_DEPTH} levels deep`, hint: 'flatten it' };
  }
  if (Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]') return undefined;
  return { ...NOT_JSON, hint: 'give a plain object, an array or a string (a Map: Object.fromEntries)' };
}

export function problemAt(steps: readonly PathStep[], value: unknown, { expected, hint }: NotPlain): Problem {
  const path = formatPath(steps);
  return { path, sentence: `Expected \`${path}\` to be ${expected}`, got: shownValue(value), hint };
}

/** Sets an own property. Defines `__proto__`, because an assignment would set the prototype. */
export function put<T>(target: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
