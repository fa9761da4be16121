/** This and the next constants are the ASCII bytes of JSON's structure and white space. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Whether a byte is white space of JSON, which does not include U+2028 and other Unicode spaces. */
export function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

/** Index of the first byte at or after `from` that is not white space; `bytes.length` if all are. */
export function skipBlanks(bytes: Uint8Array, from = 0): number {
  let at = from;
  while (at < bytes.length && isBlank(bytes[at])) at++;
  return at;
}

/** A view of `bytes[from, to)` without leading and trailing white space. */
export function trimmedBytes(bytes: Buffer, from = 0, to = bytes.length): Buffer {
  while (from < to && isBlank(bytes[from])) from++;
  while (to > from && isBlank(bytes[to - 1])) to--;
  return bytes.subarray(from, to);
}
