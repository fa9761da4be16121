import { MAX_DEPTH } from '../limits.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '../types.ts';

/**
 * Whether `text`, of which JSON.parse made `value`, is what JSON.stringify makes of it. Such a text loses nothing.
 *
 * It is measured, which costs a fifth of writing it out: strings without escapes, numbers as String gives them and no white
 * space are the shortest text of a value, so that a text of this length has none of these, and no key twice. What is as
 * short in another spelling is looked for: an exponent, and keys like integers, which JavaScript moves to the front. False
 * where the length does not tell: of a string that needs an escape, of a number of more than 15 digits, of deep nesting.
 */
export function isStringified(text: string, value: JsonValue): boolean {
  const measure = new ShortestText();
  if (measure.lengthOf(value, MAX_DEPTH) !== text.length) return false;
  return !measure.mayHaveExponent || !EXPONENT.test(text);
}

/** A number with an exponent; or a part of a string that looks like one. */
const EXPONENT = /(?:^|[:,[])-?\d[\d.]*[eE]/;

/** 15 decimal digits always fit a double, and no other 15 digits give the same one. */
const SAFE_LENGTH = 15;
const SAFE_SIZE = 10 ** SAFE_LENGTH;

/** On the hot path, so that it calls itself for objects and arrays only. */
class ShortestText {
  /** A number has been measured that is as short with an exponent, or shorter: 100 (1e2), 0.05 (5e-2). */
  mayHaveExponent = false;

  /** In UTF-16 units. NaN where no length tells. */
  lengthOf(value: JsonValue, depthLeft: number): number {
    if (typeof value === 'string') return value.length + 2;
    if (typeof value === 'number') return this.#lengthOfNumber(value);
    if (typeof value === 'boolean' || value === null) return value === false ? 5 : 4;
    if (depthLeft === 0) return NaN;
    return isJsonArray(value)
      ? this.#lengthOfArray(value, depthLeft - 1)
      : this.#lengthOfObject(value, depthLeft - 1);
  }

  #lengthOfArray(items: readonly JsonValue[], depthLeft: number): number {
    let length = items.length === 0 ? 2 : items.length + 1;
    for (const item of items) length += this.lengthOf(item, depthLeft);
    return length;
  }

  #lengthOfObject(members: JsonObject, depthLeft: number): number {
    let length = 1;
    for (const key in members) {
      // Keys like integers come first, so that the first key tells whether there is one.
      if (length === 1 && isLikeInteger(key)) return NaN;
      length += key.length + 4 + this.lengthOf(members[key] ?? null, depthLeft);
    }
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

/** String writes a smaller number with an exponent. */
const SMALLEST_PLAIN = 1e-6;

function isLikeInteger(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= DIGIT_ZERO && first <= DIGIT_NINE && /^\d+$/.test(key);
}

const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
