import { isUtf8 } from 'node:buffer';
import { lossOf } from '../../../message/json/read-json.ts';
import { stringified } from '../json/json-text.ts';

/** The bytes by which most kinds of text are recognised. */
const HEAD_BYTES = 4_096;
const BOM_START = 0xef;
/** Parsing a larger body a second time takes too long. */
const LARGEST_PARSED_AGAIN = 1_000_000;

export interface JsonSyntaxFault {
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

/** A whole body, and its text and JSON, read once on first use: JSON of megabytes takes a quarter of a second. */
export class KeptBody {
  readonly bytes: Buffer;
  #read: { readonly text: string | undefined; readonly stringified: string | undefined } | undefined;
  #loss: string | undefined;
  #first: FirstItem | undefined;
  #parsed: { readonly value: unknown; readonly fault?: JsonSyntaxFault } | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
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

  /** What stringifying the body loses, in a sentence; empty when it loses nothing. */
  get loss(): string {
    return (this.#loss ??= lossOf(this.bytes));
  }

  /** The first item of a body that is a list, or the body itself; undefined when it is no JSON, or an empty list. */
  get firstItem(): FirstItem | undefined {
    return (this.#first ??= firstItemOf(this.json));
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

  /** The value of a body that is JSON and not too large to parse again. */
  get value(): unknown {
    return this.#parseOnce().value;
  }

  /** Where a text that is not too large stops being JSON. */
  get fault(): JsonSyntaxFault | undefined {
    return this.#parseOnce().fault;
  }

  #readOnce() {
    if (this.#read !== undefined) return this.#read;
    const text = this.bytes.toString().replace(/^\ufeff/, '');
    this.#read = { text: isUtf8(this.bytes) ? text : undefined, stringified: stringified(text) };
    return this.#read;
  }

  #parseOnce(): { readonly value: unknown; readonly fault?: JsonSyntaxFault } {
    return (this.#parsed ??= this.#parse());
  }

  #parse(): { readonly value: unknown; readonly fault?: JsonSyntaxFault } {
    const { text, json } = this;
    if (text === undefined || this.bytes.length > LARGEST_PARSED_AGAIN) return { value: undefined };
    try {
      const value: unknown = JSON.parse(text);
      return { value: json === undefined ? undefined : value };
    } catch (error) {
      return { value: undefined, fault: faultOf(String(error), text) };
    }
  }
}

function firstItemOf(json: string | undefined): FirstItem | undefined {
  if (!json?.startsWith('[')) return json === undefined ? undefined : { json, count: 1 };
  const list = JSON.parse(json) as readonly unknown[]; // what begins with [ is a list
  return list.length === 0 ? undefined : { json: JSON.stringify(list[0]), count: list.length };
}

/** The parser names the position, unless the text ends too early. */
function faultOf(message: string, text: string): JsonSyntaxFault {
  const at = /at position (\d+)/.exec(message)?.[1];
  const isEnd = at === undefined && message.includes('Unexpected end');
  return {
    at: at === undefined ? (isEnd ? text.length : -1) : Number(at),
    isAfterEnd: message.includes('after JSON'),
  };
}
