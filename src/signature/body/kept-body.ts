import { isUtf8 } from 'node:buffer';
import { lossOf } from '../../message/json/read-json.ts';
import { isTooDeep } from './json-text.ts';

/** The bytes by which most kinds of text are recognised. */
const HEAD_BYTES = 4_096;
const BOM_START = 0xef;
/** Twice what a batch may have (contract, Batching client). A diagnosis parses and encodes no larger body: that takes 130 ms. */
export const LARGEST_DIAGNOSED = 1_000_000;

export interface JsonSyntaxProblem {
  /** The index of the character, the length of the text when that ends too early; -1 when unknown. */
  readonly at: number;
  /** The JSON is whole, and something follows it. */
  readonly isAfterEnd: boolean;
}

/** What a scheme signs that covers the first item of a list alone. */
export interface FirstItem {
  /** JSON-stringified. */
  readonly json: string;
  /** The number of items in the list; 1 for a body that is no list. */
  readonly count: number;
}

/**
 * A match over the JSON-stringified body only, which readers of JSON disagree on: a forger can show one value to the verifier
 * and another to the program behind it.
 */
export interface LossyMatch {
  readonly kind: 'lossy';
  readonly bytes: number;
  /** What parsing the body loses, in a sentence. */
  readonly loss: string;
}

interface BodyReading {
  readonly stringified?: string;
  readonly value?: unknown;
  readonly firstItem?: FirstItem | undefined;
  readonly problem?: JsonSyntaxProblem;
}

/** A whole body, and its text and JSON, read once on first use: JSON of megabytes takes a quarter of a second. */
export class KeptBody {
  readonly bytes: Buffer;
  readonly #largestParsed: number;
  #read: (BodyReading & { readonly text: string | undefined }) | undefined;
  #loss: string | undefined;

  /** A body that is larger than `largestParsed` has no JSON. */
  constructor(bytes: Buffer, largestParsed = Infinity) {
    this.bytes = bytes;
    this.#largestParsed = largestParsed;
  }

  /** The text without a byte order mark; undefined when it is not UTF-8. */
  get text(): string | undefined {
    return this.#readOnce().text;
  }

  /** JSON-stringified; undefined when the body is not JSON in UTF-8. */
  get json(): string | undefined {
    return this.text === undefined ? undefined : this.stringified;
  }

  /** JSON-stringified as a lenient reader does it, with U+FFFD for bytes that are not UTF-8; undefined when the body is not JSON. */
  get stringified(): string | undefined {
    return this.#readOnce().stringified;
  }

  /** Why a match over the JSON-stringified body does not count; undefined when it does. */
  get lossy(): LossyMatch | undefined {
    this.#loss ??= lossOf(this.bytes);
    return this.#loss === '' ? undefined : { kind: 'lossy', bytes: this.bytes.length, loss: this.#loss };
  }

  /** The first item of a body that is a list, or the body itself; undefined when it is no JSON, or an empty list. */
  get firstItem(): FirstItem | undefined {
    return this.text === undefined ? undefined : this.#readOnce().firstItem;
  }

  /** Whether the bytes are the JSON-stringified body already. */
  get isStringified(): boolean {
    const { text, stringified: json } = this.#readOnce();
    return json !== undefined && json === text && this.bytes[0] !== BOM_START;
  }

  /** The start of the body, a character for each byte. */
  get head(): string {
    return this.bytes.toString('latin1', 0, HEAD_BYTES);
  }

  /** The value of a body that is JSON and not too large. */
  get value(): unknown {
    return this.text === undefined ? undefined : this.#readOnce().value;
  }

  /** Where a text that is not too large stops being JSON. */
  get problem(): JsonSyntaxProblem | undefined {
    return this.text === undefined ? undefined : this.#readOnce().problem;
  }

  #readOnce() {
    if (this.#read !== undefined) return this.#read;
    const text = this.bytes.toString().replace(/^\ufeff/, '');
    const isRead = this.bytes.length <= this.#largestParsed && !isTooDeep(text);
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

/** The parser names the position, unless the text ends too early. */
function problemOf(message: string, text: string): JsonSyntaxProblem {
  const at = /at position (\d+)/.exec(message)?.[1];
  const isEnd = at === undefined && message.includes('Unexpected end');
  return {
    at: at === undefined ? (isEnd ? text.length : -1) : Number(at),
    isAfterEnd: message.includes('after JSON'),
  };
}
