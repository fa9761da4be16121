import { utf8TextOf, stringified } from '../json/json-text.ts';

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

/** A whole body, and its text and JSON, read once on first use: JSON of megabytes takes a quarter of a second. */
export class KeptBody {
  readonly bytes: Buffer;
  #read: { readonly text: string | undefined; readonly json: string | undefined } | undefined;
  #parsed: { readonly value: unknown; readonly fault?: JsonSyntaxFault } | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** The text without a byte order mark; undefined when it is not UTF-8. */
  get text(): string | undefined {
    return this.#readOnce().text;
  }

  /** JSON-stringified; undefined when the body is not JSON. */
  get json(): string | undefined {
    return this.#readOnce().json;
  }

  /** Whether the bytes are the JSON-stringified body already. */
  get isStringified(): boolean {
    const { text, json } = this.#readOnce();
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
    const text = utf8TextOf(this.bytes)?.replace(/^\ufeff/, '');
    this.#read = { text, json: text === undefined ? undefined : stringified(text) };
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

/** The parser names the position, unless the text ends too early. */
function faultOf(message: string, text: string): JsonSyntaxFault {
  const at = /at position (\d+)/.exec(message)?.[1];
  const isEnd = at === undefined && message.includes('Unexpected end');
  return {
    at: at === undefined ? (isEnd ? text.length : -1) : Number(at),
    isAfterEnd: message.includes('after JSON'),
  };
}
