import { BACKSLASH, QUOTE } from './bytes.ts';
import { isKept } from './decimal.ts';
import { MAX_DEPTH } from '../limits.ts';

/** What one pass over the bytes of JSON tells before it is parsed. Of bytes that are not JSON it tells nothing reliable. */
export interface JsonScan {
  /** Where the nesting exceeds MAX_DEPTH; -1 when it does not. */
  readonly tooDeepAt: number;
  /** Colons outside strings: as many as there are members, duplicates counted. */
  readonly colons: number;
  /** Whether every number keeps its value. */
  readonly keepsNumbers: boolean;
}

/**
 * Counts and checks in one pass over all bytes, without recursion, and allocates only for long numbers.
 *
 * No other reader of JSON here is fast enough to run on every message: this function builds nothing and remembers no brackets.
 */
export function scanJson(bytes: Uint8Array): JsonScan {
  let depth = 0;
  let colons = 0;
  let keepsNumbers = true;
  const { length } = bytes;
  for (let at = 0; at < length; at++) {
    switch (ROLES[bytes[at] ?? 0]) {
      case Role.quote:
        at = endOfString(bytes, at);
        break;
      case Role.colon:
        colons++;
        break;
      case Role.opens:
        if (++depth > MAX_DEPTH) return { tooDeepAt: at, colons, keepsNumbers };
        break;
      case Role.closes:
        depth--;
        break;
      case Role.beginsNumber: {
        const end = endOfNumber(bytes, at);
        keepsNumbers &&= isSurelyKept(bytes, at, end) || isKept(latin1(bytes, at, end));
        at = end - 1;
        break;
      }
      default:
    }
  }
  return { tooDeepAt: -1, colons, keepsNumbers };
}

/** What a byte outside strings is; 0 for the rest. */
const Role = { quote: 1, colon: 2, opens: 3, closes: 4, beginsNumber: 5 } as const;

const ROLES = table({
  '"': Role.quote,
  ':': Role.colon,
  '{': Role.opens,
  '[': Role.opens,
  '}': Role.closes,
  ']': Role.closes,
  '-': Role.beginsNumber,
  ...Object.fromEntries(Array.from('0123456789', (digit) => [digit, Role.beginsNumber])),
});

/** 1 for what is of a number, 2 for what shows an exponent; a minus in front is none. */
const OF_NUMBER = table({
  '.': 1,
  ...Object.fromEntries(Array.from('0123456789', (digit) => [digit, 1])),
  ...Object.fromEntries(Array.from('eE+-', (character) => [character, 2])),
});

function table(values: Readonly<Record<string, number>>): Uint8Array {
  const entries = new Uint8Array(256);
  for (const [character, value] of Object.entries(values)) entries[character.charCodeAt(0)] = value;
  return entries;
}

/** The index of the quote that closes the string which starts at `start`, or the end of the bytes. */
export function endOfString(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at++;
  }
  return at;
}

/** The place after the last byte that can be of a number. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (OF_NUMBER[bytes[at] ?? 0] !== 0) at++;
  return at;
}

/** 15 decimal digits always fit a double. */
const SAFE_LENGTH = 15;

function isSurelyKept(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > SAFE_LENGTH) return false;
  for (let at = start + 1; at < end; at++) {
    if (OF_NUMBER[bytes[at] ?? 0] === 2) return false;
  }
  return true;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
