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
 * `more`      the chunk is used up
 * `closed`    the bracket that closes the value
 * `list`      a `[` that is the value of one of the object's own keys; reading on means that it is like any other
 * `no-key`    a `{` where JSON requires a key: the value before it is broken, and it may begin the next entry
 * `wrong`     a closing bracket of the wrong kind
 * `open-text` a line break in a string
 */
export type ScanEvent = 'more' | 'closed' | 'list' | 'no-key' | 'wrong' | 'open-text';

/**
 * Follows one JSON object or array by its strings and brackets, over any number of chunks. Finds where the value
 * ends, and the breaks that would make it end elsewhere; the parser of the value finds everything else.
 *
 * No other reader of JSON here can stop in the middle of a value and continue with the next chunk: the other readers need the whole text.
 */
export class ValueScan {
  readonly #nesting = new Nesting();
  /** The last byte outside strings and white space. */
  #last = 0;
  #isInString = false;
  #isEscaped = false;
  /** Where the last `scan` stopped; it has not passed that byte, except after `list`. */
  at = 0;
  /** Line breaks passed since `begin`. */
  lines = 0;

  get depth(): number {
    return this.#nesting.depth;
  }

  /** Starts over inside a value that `bracket` opened. */
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

  /** Skips a string. Most bytes of a message are in strings: checks only the bytes that may end one. */
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

/** Deeper brackets are counted, not remembered: the parser rejects messages nested deeper than 512. */
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

  /** The closing bracket that must come next; undefined beyond the remembered depth. */
  get closer(): number | undefined {
    return this.#closers[this.#depth - 1];
  }

  open(bracket: number): void {
    if (this.#depth < REMEMBERED) {
      this.#closers[this.#depth] = bracket === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    }
    this.#depth++;
  }

  /** Closes the innermost bracket. Returns false and changes nothing when this one does not match. */
  close(bracket: number): boolean {
    const expected = this.closer;
    if (expected !== undefined && expected !== bracket) return false;
    this.#depth--;
    return true;
  }

  clear(): void {
    this.#depth = 0;
  }
}
