import { isUtf8 } from 'node:buffer';
import { HooksError, InputError, ValidationError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { BACKSLASH, COLON, LF, SPACE } from './bytes.ts';
import { parseJsonOrUndefined } from './batch-document.ts';
import { findProblem } from './find-problem.ts';
import { scanJson, type JsonScan } from './scan-json.ts';
import { MAX_DEPTH } from '../limits.ts';
import { stringifiedTextOf, type StringifiedText } from './stringified.ts';
import { isJsonArray, type JsonValue } from '../types.ts';

/** Origin of the bytes, for errors. `line` is the line of the file, from 1, in which the bytes begin. */
export interface JsonOrigin {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/**
 * Reads JSON without loss. Skips a BOM. Throws InputError with line and column if the bytes are not UTF-8, not JSON or
 * nested over 512 levels; ValidationError with the path if JavaScript would lose something: a number that it cannot
 * represent, or a duplicate key.
 */
export function readJson(bytes: Uint8Array, origin: JsonOrigin = {}): JsonValue {
  return readJsonText(bytes, origin).value;
}

export interface JsonReading {
  readonly value: JsonValue;
  /** The text, only if the bytes are what JSON.stringify(value) returns: a body can be made of its pieces. */
  readonly stringified?: StringifiedText | undefined;
}

/** Reads JSON like `readJson`, and recognizes bytes that are the output of JSON.stringify. */
export function readJsonText(bytes: Uint8Array, origin: JsonOrigin = {}): JsonReading {
  const bom = bomLength(bytes);
  // Makes a view of the bytes only if they have a BOM, because a view takes a tenth of the time of reading a short message.
  const source: Source = { bytes: bom === 0 ? bytes : bytes.subarray(bom), origin };
  if (!isUtf8(source.bytes)) throw notUtf8(source);
  const early = source.bytes.length > MAX_UNSCANNED_BYTES ? scan(source) : undefined;
  const text = textOf(source.bytes);
  const value = parse(text, source);
  const mayBe = early === undefined && mayBeStringified(source.bytes);
  const stringified = mayBe ? stringifiedTextOf(text, value) : undefined;
  if (stringified !== undefined) return bom === 0 ? { value, stringified } : { value };
  const { colons, keepsNumbers } = early ?? scan(source);
  if (!keepsNumbers || countMembers(value) !== colons) assertNoLoss(text);
  return { value };
}

/** Longer texts are scanned for deep nesting before parsing, because parsing can take 30 times their memory. */
const MAX_UNSCANNED_BYTES = 64 * 1024;

/** Whether `stringifiedTextOf` can recognize the text: a cheap test that avoids useless calls. */
function mayBeStringified(bytes: Uint8Array): boolean {
  return !bytes.includes(BACKSLASH) && bytes[bytes.indexOf(COLON) + 1] !== SPACE;
}

/** Reads JSON like `readJson`, from a string such as the value of a flag. Also rejects lone surrogates. */
export function readJsonString(text: string, origin: JsonOrigin = {}): JsonValue {
  const lone = /\p{Surrogate}/u.exec(text);
  if (lone === null) return readJson(Buffer.from(text), origin);
  const source: Source = { bytes: Buffer.from(text), origin };
  const sentence = 'Expected Unicode text, got half of a surrogate pair';
  throw inputError(source, Buffer.byteLength(text.slice(0, lone.index)), sentence, {
    hint: 'write it as \\u and four digits',
  });
}

/** Whether JSON is nested deeper than `readJson` accepts. */
export function isTooDeep(bytes: Uint8Array): boolean {
  return scanJson(bytes).tooDeepAt !== -1;
}

/** Whether a text is JSON, even if reading it would lose something. */
export function isJson(text: string): boolean {
  return parseJsonOrUndefined(text) !== undefined;
}

/**
 * Says in a printable sentence what a JSON parser would lose or read differently from others; empty if all read the same.
 */
export function lossOf(bytes: Uint8Array): string {
  try {
    const half = HALF_A_PAIR.exec(JSON.stringify(readJson(bytes)))?.[1];
    return half === undefined ? '' : `expected Unicode text, got half of a surrogate pair, \`${half}\``;
  } catch (error) {
    if (error instanceof HooksError) return printable(error.message, 300);
    throw error;
  }
}

/**
 * Matches the escape that JSON.stringify writes for a lone surrogate. After an odd number of backslashes it would be text,
 * not an escape.
 */
const HALF_A_PAIR = /(?:^|[^\\])(?:\\\\)*(\\ud[89a-f]..)/;

interface Source {
  readonly bytes: Uint8Array;
  readonly origin: JsonOrigin;
}

/** Length of the byte order mark at the start of a text: 3, or 0 if there is none. */
export function bomLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function scan(source: Source): JsonScan {
  const found = scanJson(source.bytes);
  if (found.tooDeepAt !== -1) {
    const sentence = `Expected at most ${MAX_DEPTH} levels of nesting, got more`;
    throw inputError(source, found.tooDeepAt, sentence, { hint: 'flatten it' });
  }
  return found;
}

function textOf(bytes: Uint8Array): string {
  // The bytes are wrapped in a Buffer only if needed, because wrapping takes as long as decoding them.
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString();
}

/**
 * Parses JSON. If V8 reports a syntax error, searches for it again, because V8 gives the position only on newer Nodes and
 * describes the error in its own words.
 */
function parse(text: string, source: Source): JsonValue {
  try {
    return JSON.parse(text) as JsonValue; // JSON.parse returns only these
  } catch (cause) {
    scan(source);
    const problem = findProblem(text);
    if (problem?.kind !== 'syntax') throw cause;
    const offset = Buffer.byteLength(text.slice(0, problem.offset));
    throw inputError(source, offset, problem.sentence, { cause, ...problem });
  }
}

/** Counts the members of all objects. Recurses only into objects and arrays, because it is on the hot path. */
function countMembers(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (isJsonArray(value)) {
    for (const item of value) count += typeof item === 'object' ? countMembers(item) : 0;
    return count;
  }
  for (const key in value) {
    const member = value[key];
    count += typeof member === 'object' ? 1 + countMembers(member) : 1;
  }
  return count;
}

function assertNoLoss(text: string): void {
  const problem = findProblem(text);
  if (problem === undefined || problem.kind === 'syntax') return;
  const { sentence, path, got, hint } = problem;
  throw new ValidationError(sentence, { path, got, hint });
}

function notUtf8(source: Source): InputError {
  const offset = firstInvalid(source.bytes);
  const byte = (source.bytes[offset] ?? 0).toString(16).padStart(2, '0');
  const [first = 0, second = 0] = source.bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const sentence = `Expected UTF-8, got ${isUtf16 ? 'UTF-16' : `the byte 0x${byte} at offset ${offset}`}`;
  const isGzip = first === 0x1f && second === 0x8b;
  return inputError(source, offset, sentence, {
    hint: isGzip
      ? 'it is gzipped: unpack it first'
      : `save the file as UTF-8; from ${isUtf16 ? 'UTF-16: iconv -f UTF-16' : 'Latin-1: iconv -f LATIN1'} -t UTF-8 FILE`,
  });
}

function firstInvalid(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const end = at + lengthOfCharacter(bytes[at] ?? 0);
    if (!isUtf8(bytes.subarray(at, end))) return at;
    at = end;
  }
  return at;
}

/** The length of a UTF-8 character, by its first byte. */
function lengthOfCharacter(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** Makes the error at an offset. Its sentence has the line and column only without a file: a file is printed with them. */
function inputError(
  { bytes, origin }: Source,
  offset: number,
  sentence: string,
  { hint, cause }: { hint?: string | undefined; cause?: unknown },
): InputError {
  const place = textPositionOf(bytes, offset);
  const line = place.line + (origin.line ?? 1) - 1;
  const { file } = origin;
  const message = file === undefined ? `${sentence} (line ${line}, column ${place.column})` : sentence;
  return new InputError(message, {
    line,
    column: place.column,
    hint,
    cause,
    ...(file === undefined ? {} : { file }),
  });
}

/** Line and column (in characters) of an offset, from 1. */
function textPositionOf(bytes: Uint8Array, offset: number): { line: number; column: number } {
  let line = 1;
  let column = 1;
  for (const byte of bytes.subarray(0, offset)) {
    if (byte === LF) [line, column] = [line + 1, 1];
    else if ((byte & CONTINUATION_MASK) !== CONTINUATION) column++;
  }
  return { line, column };
}

// Bytes after the first of a UTF-8 character have the form 10xxxxxx. All other bytes begin a character, so they are counted.
const CONTINUATION_MASK = 0b1100_0000;
const CONTINUATION = 0b1000_0000;
