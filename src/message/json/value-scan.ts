import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  CR,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from './bytes.ts';

/**
 * Why the scan stopped, and at which byte:
 * `more`      at the end of the chunk
 * `closed`    at the bracket that closes the value
 * `list`      after the `[` of an array that is a direct member of the object; the caller may simply continue the scan
 * `no-key`    at a `{` where JSON requires a key: the current value is broken, and the `{` may begin the next entry
 * `wrong`     at a closing bracket of the wrong kind
 * `open-text` at a line break in a string
 */
export type ScanEvent = 'more' | 'closed' | 'list' | 'no-key' | 'wrong' | 'open-text';

/**
 * Scans the strings and brackets of one JSON object or array, over any number of chunks. Finds the end of the value, and
 * syntax errors that would move the end. The parser of the value finds all other errors.
 *
 * The only reader of JSON here that can pause inside a value and continue with the next chunk. The others need the whole
 * text.
 */
export class ValueScan {
  readonly #nesting = new Nesting();
  /** The last byte that is neither white space nor part of a string. */
  #last = 0;
  #isInString = false;
  #isEscaped = false;
  /** Index in the chunk where the last `scan` stopped. The byte there is not consumed yet, except after the event `list`. */
  at = 0;
  /** Number of line breaks passed since the call of `begin`. */
  lines = 0;

  get depth(): number {
    return this.#nesting.depth;
  }

  /** Resets the scan to the beginning of a new value, after its opening bracket `bracket`. */
  begin(bracket: number): void {
    this.#nesting.clear();
    this.#nesting.open(bracket);
    this.#last = bracket;
    this.#isInString = false;
    this.#isEscaped = false;
    this.lines = 0;
  }

  scan(chunk: Buffer, from: number): ScanEvent {
    this.at = from;
    while (this.at < chunk.length) {
      const event = this.#isInString ? this.#passString(chunk) : this.#passStructure(chunk);
      if (event !== undefined) return event;
    }
    return 'more';
  }

  #passStructure(chunk: Buffer): ScanEvent | undefined {
    for (let at = this.at; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      switch (byte) {
        case LF:
          this.lines++;
          continue;
        case SPACE:
        case TAB:
        case CR:
          continue;
        case QUOTE:
          this.#isInString = true;
          this.at = at + 1;
          return undefined;
        case OPEN_BRACE:
        case OPEN_BRACKET:
        case CLOSE_BRACE:
        case CLOSE_BRACKET: {
          const event = byte === OPEN_BRACE || byte === OPEN_BRACKET ? this.#open(byte) : this.#close(byte);
          this.#last = byte;
          this.at = at;
          if (event === 'list') this.at++;
          if (event !== undefined) return event;
          continue;
        }
        default:
          this.#last = byte;
      }
    }
    this.at = chunk.length;
    return undefined;
  }

  #open(bracket: number): ScanEvent | undefined {
    const isValue = this.#last === COLON;
    if (bracket === OPEN_BRACE && this.#nesting.isInObject && !isValue) return 'no-key';
    const isOwnList = bracket === OPEN_BRACKET && isValue && this.depth === 1;
    this.#nesting.open(bracket);
    return isOwnList ? 'list' : undefined;
  }

  #close(bracket: number): ScanEvent | undefined {
    if (!this.#nesting.close(bracket)) return 'wrong';
    return this.depth === 0 ? 'closed' : undefined;
  }

  /** Skips the rest of a string. Tests only for bytes that can end it, because most bytes of a message are in strings. */
  #passString(chunk: Buffer): ScanEvent | undefined {
    let at = this.at;
    if (this.#isEscaped && chunk[at] !== LF) at++;
    this.#isEscaped = false;
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#isInString = false;
        this.#last = QUOTE;
        this.at = at + 1;
        return undefined;
      }
      if (byte === LF) {
        this.at = at;
        return 'open-text';
      }
      if (byte !== BACKSLASH) continue;
      if (at + 1 === chunk.length) this.#isEscaped = true;
      else if (chunk[at + 1] !== LF) at++;
    }
    this.at = chunk.length;
    return undefined;
  }
}

/**
 * Depth up to which the kind of each bracket is stored. Deeper brackets are only counted, because the parser rejects more
 * than 512 levels.
 */
const REMEMBERED = 1024;

/** The open brackets of one JSON value. */
class Nesting {
  readonly #closers = new Uint8Array(REMEMBERED);
  #depth = 0;

  get depth(): number {
    return this.#depth;
  }

  get isInObject(): boolean {
    return this.#depth > 0 && this.#depth <= REMEMBERED && this.#closers[this.#depth - 1] === CLOSE_BRACE;
  }

  open(bracket: number): void {
    if (this.#depth < REMEMBERED) {
      this.#closers[this.#depth] = bracket === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    }
    this.#depth++;
  }

  /** Closes the innermost bracket. Returns false and changes nothing if `bracket` does not match. */
  close(bracket: number): boolean {
    const expected = this.#closers[this.#depth - 1];
    if (expected !== undefined && expected !== bracket) return false;
    this.#depth--;
    return true;
  }

  clear(): void {
    this.#depth = 0;
  }
}
