import { isUtf8 } from 'node:buffer';
import { isTooDeep, lossOf } from '../../message/json/read-json.ts';

/** Number of bytes at the start of a body that suffice to recognize most kinds of text. */
const HEAD_BYTES = 4_096;
const BOM_START = 0xef;
/**
 * Maximum bytes of a body that a diagnosis parses and encodes: twice the limit of a batch (contract, Batching client). Takes
 * 130 ms for a body of this size.
 */
export const LARGEST_DIAGNOSED = 1_000_000;

export interface JsonSyntaxProblem {
  /**
   * Position of the first wrong character of the JSON, in UTF-16 units. The length of the text if it ends too early; -1 if
   * unknown.
   */
  readonly at: number;
  /** Whether the wrong character follows complete JSON. */
  readonly isAfterEnd: boolean;
}

/** The item that a signature covers, if its scheme covers only the first item of a list. */
export interface FirstItem {
  /** The JSON-stringified text of the first item, or of a body that is no list. */
  readonly json: string;
  /** Number of items in the list; 1 if the body is not a list. */
  readonly count: number;
}

/**
 * A match over the JSON-stringified form of a body on which JSON parsers disagree: a forger can show one value to the
 * verifier and another to the program behind it.
 */
export interface LossyMatch {
  readonly kind: 'lossy';
  readonly bytes: number;
  /** A sentence about the values that parsing the body loses. */
  readonly loss: string;
}

interface BodyReading {
  readonly stringified?: string;
  readonly value?: unknown;
  readonly firstItem?: FirstItem | undefined;
  readonly problem?: JsonSyntaxProblem;
}

/**
 * A whole body, with its text and JSON, which are read once and on first use: megabytes of JSON take a quarter of a second.
 */
export class KeptBody {
  readonly bytes: Buffer;
  readonly #largestParsed: number;
  #read: (BodyReading & { readonly text: string | undefined }) | undefined;
  #loss: string | undefined;

  /** A body over `largestParsed` bytes is not parsed, as if it were not JSON. */
  constructor(bytes: Buffer, largestParsed = Infinity) {
    this.bytes = bytes;
    this.#largestParsed = largestParsed;
  }

  /** The text of the body without a byte order mark; undefined if the body is not UTF-8. */
  get text(): string | undefined {
    return this.#readOnce().text;
  }

  /** The JSON-stringified body; undefined if the body is not JSON in UTF-8. */
  get json(): string | undefined {
    return this.text === undefined ? undefined : this.stringified;
  }

  /**
   * The body, JSON-stringified by a lenient reader: with U+FFFD for bytes that are not UTF-8. Undefined if the body is not
   * JSON.
   */
  get stringified(): string | undefined {
    return this.#readOnce().stringified;
  }

  /**
   * The result for a signature that matches the JSON-stringified body, but is not valid, because parsing the body loses
   * something. Undefined if parsing loses nothing.
   */
  get lossy(): LossyMatch | undefined {
    this.#loss ??= lossOf(this.bytes);
    return this.#loss === '' ? undefined : { kind: 'lossy', bytes: this.bytes.length, loss: this.#loss };
  }

  /**
   * The first item of a list, or the body itself if it is not a list; undefined if the body is not JSON or an empty list.
   */
  get firstItem(): FirstItem | undefined {
    return this.text === undefined ? undefined : this.#readOnce().firstItem;
  }

  /** Whether the bytes equal the JSON-stringified body. */
  get isStringified(): boolean {
    const { text, stringified: json } = this.#readOnce();
    return json !== undefined && json === text && this.bytes[0] !== BOM_START;
  }

  /** The start of the body as latin1: one character per byte. */
  get head(): string {
    return this.bytes.toString('latin1', 0, HEAD_BYTES);
  }

  /** The parsed body; undefined if it is not JSON in UTF-8, or longer than LARGEST_DIAGNOSED. */
  get value(): unknown {
    return this.text === undefined ? undefined : this.#readOnce().value;
  }

  /** The syntax error of a body that is not JSON; undefined if it is JSON, not UTF-8 or was not parsed. */
  get problem(): JsonSyntaxProblem | undefined {
    return this.text === undefined ? undefined : this.#readOnce().problem;
  }

  #readOnce() {
    if (this.#read !== undefined) return this.#read;
    const text = this.bytes.toString().replace(/^\ufeff/, '');
    const isRead = this.bytes.length <= this.#largestParsed && !isTooDeep(this.bytes);
    this.#read = { text: isUtf8(this.bytes) ? text : undefined, ...(isRead && readingOf(text)) };
    return this.#read;
  }
}

function readingOf(text: string): BodyReading {
  try {
    const value: unknown = JSON.parse(text);
    const json = JSON.stringify(value);
    return {
      stringified: json,
      firstItem: firstItemOf(value, json),
      ...(text.length <= LARGEST_DIAGNOSED && { value }),
    };
  } catch (error) {
    return { problem: problemOf(String(error), text) };
  }
}

function firstItemOf(value: unknown, json: string): FirstItem | undefined {
  if (!Array.isArray(value)) return { json, count: 1 };
  return value.length === 0 ? undefined : { json: JSON.stringify(value[0]), count: value.length };
}

/** Reads the position of a syntax error from V8's message, which has it unless the text ends too early. */
function problemOf(message: string, text: string): JsonSyntaxProblem {
  const at = /at position (\d+)/.exec(message)?.[1];
  const isEnd = at === undefined && message.includes('Unexpected end');
  return {
    at: at === undefined ? (isEnd ? text.length : -1) : Number(at),
    isAfterEnd: message.includes('after JSON'),
  };
}
