import { LF } from './bytes.ts';

/** Where something lies in a text, both counted from 1; `column` in characters. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export function textPositionOf(bytes: Uint8Array, offset: number): TextPosition {
  let line = 1;
  let column = 1;
  for (const byte of bytes.subarray(0, offset)) {
    if (byte === LF) [line, column] = [line + 1, 1];
    else if ((byte & CONTINUATION_MASK) !== CONTINUATION) column++;
  }
  return { line, column };
}

// A UTF-8 character is one byte that is not of the form 10xxxxxx, and those that are after it.
const CONTINUATION_MASK = 0b1100_0000;
const CONTINUATION = 0b1000_0000;
