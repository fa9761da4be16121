import { utf8TextOf, stringified } from './json-text.ts';

/** A whole body, and its text and JSON, read once on first use: JSON of megabytes takes a quarter of a second. */
export class KeptBody {
  readonly bytes: Buffer;
  #read: { readonly text: string | undefined; readonly json: string | undefined } | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Without a byte order mark; undefined when it is not UTF-8. */
  get text(): string | undefined {
    return this.#readOnce().text;
  }

  /** JSON-stringified; undefined when the body is not JSON. */
  get json(): string | undefined {
    return this.#readOnce().json;
  }

  #readOnce() {
    if (this.#read !== undefined) return this.#read;
    const text = utf8TextOf(this.bytes)?.replace(/^\ufeff/, '');
    this.#read = { text, json: text === undefined ? undefined : stringified(text) };
    return this.#read;
  }
}
