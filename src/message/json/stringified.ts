import { MAX_DEPTH } from '../limits.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../types.ts';

/** A JSON text that is what JSON.stringify returns for its value. */
export interface StringifiedText {
  readonly text: string;
  /** Offsets of the members if the value is an object, then the end of the text; else empty. */
  readonly starts: readonly number[];
}

/**
 * Recognizes a text, from which JSON.parse made `value`, that is what JSON.stringify(value) returns. Such a text loses
 * nothing.
 *
 * Compares lengths, which costs a fifth of stringifying: the shortest text of a value has no escapes, no white space and
 * numbers as String writes them, so a text of that length has no escapes, white space, longer numbers or duplicate keys. Two
 * spellings can be as short and are looked for: exponents, and integer keys, which JavaScript moves to the front. Returns
 * undefined if the length does not decide: for a string that needs an escape, a number of more than 15 digits, or deep
 * nesting.
 */
export function stringifiedTextOf(text: string, value: JsonValue): StringifiedText | undefined {
  const measure = new ShortestText();
  const starts: number[] = [];
  const length = isJsonObject(value)
    ? measure.lengthOfObject(value, MAX_DEPTH - 1, starts)
    : measure.lengthOf(value, MAX_DEPTH);
  if (length !== text.length) return undefined;
  return measure.mayHaveExponent && EXPONENT.test(text) ? undefined : { text, starts };
}

/** A number with an exponent, or a part of a string that looks like one. */
const EXPONENT = /(?:^|[:,[])-?\d[\d.]*[eE]/;

/** A double represents any 15 decimal digits, and represents no other 15 digits by the same value. */
const SAFE_LENGTH = 15;
const SAFE_SIZE = 10 ** SAFE_LENGTH;

/** Measures the shortest JSON text of a value. */
class ShortestText {
  /** Whether a measured number is as short or shorter with an exponent: 100 (1e2), 0.05 (5e-2). */
  mayHaveExponent = false;

  /**
   * Length of the shortest JSON text, in UTF-16 units. NaN if the length cannot tell whether a text is the stringified
   * value.
   */
  lengthOf(value: JsonValue, depthLeft: number): number {
    if (typeof value === 'string') return value.length + 2;
    if (typeof value === 'number') return this.#lengthOfNumber(value);
    if (typeof value === 'boolean' || value === null) return value === false ? 5 : 4;
    if (depthLeft === 0) return NaN;
    return isJsonArray(value)
      ? this.#lengthOfArray(value, depthLeft - 1)
      : this.lengthOfObject(value, depthLeft - 1);
  }

  #lengthOfArray(items: readonly JsonValue[], depthLeft: number): number {
    let length = items.length === 0 ? 2 : items.length + 1;
    for (const item of items) length += this.lengthOf(item, depthLeft);
    return length;
  }

  /** Measures an object like `lengthOf`, and adds the offset of each member and the end of the text to `starts`. */
  lengthOfObject(members: JsonObject, depthLeft: number, starts?: number[]): number {
    let length = 1;
    for (const key in members) {
      starts?.push(length);
      // Integer keys come first in JavaScript, so the first key tells whether the object has any integer keys.
      if (length === 1 && isLikeInteger(key)) return NaN;
      length += key.length + 4 + this.lengthOf(members[key] ?? null, depthLeft);
    }
    starts?.push(length);
    return length === 1 ? 2 : length;
  }

  #lengthOfNumber(value: number): number {
    if (value === 0) return 1;
    const size = Math.abs(value);
    if (size >= SAFE_SIZE) return NaN;
    if (size < 0.1 || size % 100 === 0) this.mayHaveExponent = true;
    const { length } = String(value);
    return length <= SAFE_LENGTH && size >= SMALLEST_PLAIN ? length : NaN;
  }
}

/** The smallest number that String writes without an exponent. */
const SMALLEST_PLAIN = 1e-6;

function isLikeInteger(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= DIGIT_ZERO && first <= DIGIT_NINE && /^\d+$/.test(key);
}

const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
