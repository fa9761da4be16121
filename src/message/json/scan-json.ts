import { BACKSLASH, COLON, QUOTE } from './bytes.ts';
import { isKept } from './decimal.ts';
import { MAX_DEPTH } from '../limits.ts';

/** Result of one pass over the bytes of JSON before parsing. Not reliable if the bytes are not JSON. */
export interface JsonScan {
  /** Index of the bracket where the nesting exceeds MAX_DEPTH; -1 if it does not. */
  readonly tooDeepAt: number;
  /** Number of colons outside strings. It equals the number of members, duplicates included. */
  readonly colons: number;
  /** Whether JavaScript keeps the decimal value of every number in the JSON. */
  readonly keepsNumbers: boolean;
}

/**
 * Scans JSON in one pass over all bytes, without recursion. Allocates only for long numbers.
 *
 * The only reader of JSON here that is fast enough for every message, because it builds no values and does not match
 * brackets.
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

/** Role of a byte outside strings, such as a quote. Bytes without a role have 0 in `ROLES`. */
const Role = { quote: 1, colon: 2, opens: 3, closes: 4, beginsNumber: 5 } as const;

const ROLES = new Uint8Array(256);
ROLES[QUOTE] = Role.quote;
ROLES[COLON] = Role.colon;
for (const byte of Buffer.from('{[')) ROLES[byte] = Role.opens;
for (const byte of Buffer.from('}]')) ROLES[byte] = Role.closes;
for (const byte of Buffer.from('-0123456789')) ROLES[byte] = Role.beginsNumber;

/**
 * 1 for digits and the point, 2 for characters of an exponent, 0 for bytes that cannot be in a number after its first one.
 */
const OF_NUMBER = new Uint8Array(256);
for (const byte of Buffer.from('.0123456789')) OF_NUMBER[byte] = 1;
for (const byte of Buffer.from('eE+-')) OF_NUMBER[byte] = 2;

/** Index of the closing quote of the string that starts at `start`; `bytes.length` or more if it is not closed. */
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

/** Index after the last byte that can be part of the number. */
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
