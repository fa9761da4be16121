/** Pages of frameworks say what is wrong below a thousand characters of styles. */
const MAX_CHARACTERS = 4_000;
/** No character takes more in UTF-8. */
const MAX_CHARACTER_BYTES = 4;

/** The first part of a response's body. Keeps copies: a chunk shares its memory with all else that was read with it. */
export class ResponseBody {
  readonly #maxBytes: number;
  readonly #maxCharacters: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** `responseBytes` of any response as asked for, or the usual number of characters. */
  constructor(responseBytes?: number) {
    this.#maxCharacters = responseBytes ?? MAX_CHARACTERS;
    this.#maxBytes = responseBytes ?? MAX_CHARACTERS * MAX_CHARACTER_BYTES;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  add(chunk: Uint8Array): void {
    if (this.isFull) return;
    const kept = Buffer.from(chunk.subarray(0, this.#maxBytes - this.#bytes));
    this.#bytes += kept.length;
    this.#chunks.push(kept);
  }

  /** A character that the limit cuts in two is left out. */
  text(): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.isFull });
    return text.slice(0, this.#maxCharacters).replace(/[\uD800-\uDBFF]$/, '');
  }
}
