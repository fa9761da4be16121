import { isTooDeep } from '../../message/json/read-json.ts';
import type { Deadline } from '../deadline.ts';

/**
 * A JSON value that keeps the spelling of numbers and the order of members, which JSON.parse loses (`1.0`, integer keys), so
 * that a diagnosis can write it as another language would.
 */
export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  /** A string. `literal` is its JSON text as JSON.stringify would write it, with quotes. */
  | { readonly kind: 'string'; readonly literal: string }
  /** A number, true, false or null. `text` is its spelling in the JSON. */
  | { readonly kind: 'literal'; readonly text: string };

export interface JsonMember {
  readonly key: string;
  readonly literal: string;
  readonly value: JsonNode;
}

/**
 * Removes the newlines at the end of a text. A regular expression would take quadratic time on a text that is full of
 * newlines elsewhere.
 */
export function withoutNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end--;
  return text.slice(0, end);
}

/** Returns `JSON.stringify(JSON.parse(text))`. Undefined if the text is not JSON, or nested too deep. */
export function stringified(text: string): string | undefined {
  if (isTooDeep(Buffer.from(text))) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whether there is white space between the parts of a JSON text, outside its strings. */
export function hasWhiteSpace(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (isSpace(code)) return true;
  }
  return false;
}

/** Parses a text that `stringified` accepts. The result for other texts is undefined behavior. */
export function parseJsonTree(text: string): JsonNode {
  return new JsonReader(text).value();
}

/** Parses like `parseJsonTree`; undefined if the deadline passes before the end of the text. */
export function readJsonTextUntil(deadline: Deadline, text: string): JsonNode | undefined {
  const reader = new JsonReader(text, deadline);
  const node = reader.value();
  return reader.isStopped ? undefined : node;
}

/** The value of a string literal of JSON. */
export function textOfLiteral(literal: string): string {
  // Slicing a literal without escapes is ten times as fast as parsing it.
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1); // a string's literal parses to a string
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d];
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];

/** Whether a character is white space of JSON (RFC 8259, section 2). */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The index of the quote that closes the string starting at `start`; the length of the text if it is not closed. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index;
  }
  return text.length;
}

/**
 * Number of members and items to read between two checks of the deadline. One check costs as much as reading one or two
 * members.
 */
const PARTS_PER_LOOK = 256;

/**
 * Reads JSON into nodes that keep the spelling, which a diagnosis compares and the readers of `message/json` do not keep.
 */
class JsonReader {
  readonly #text: string;
  readonly #deadline: Deadline | undefined;
  #index = 0;
  #parts = 0;
  /** Whether reading stopped because the deadline passed. */
  isStopped = false;

  constructor(text: string, deadline?: Deadline) {
    this.#text = text;
    this.#deadline = deadline;
  }

  value(): JsonNode {
    const code = this.#next();
    if (code === OPEN_BRACE) {
      return { kind: 'object', members: this.#list(CLOSE_BRACE, () => this.#member()) };
    }
    if (code === OPEN_BRACKET) return { kind: 'array', items: this.#list(CLOSE_BRACKET, () => this.value()) };
    if (code === QUOTE) return { kind: 'string', literal: this.#string() };
    return { kind: 'literal', text: this.#literal() };
  }

  #list<Item>(end: number, read: () => Item): Item[] {
    const items: Item[] = [];
    this.#index++;
    while (this.#next() !== end && this.#continues()) {
      items.push(read());
      if (this.#next() === COMMA) this.#index++;
    }
    this.#index++;
    return items;
  }

  #continues(): boolean {
    this.#parts++;
    if (this.#parts % PARTS_PER_LOOK === 0 && this.#deadline?.isOver === true) this.isStopped = true;
    return !this.isStopped;
  }

  #member(): JsonMember {
    const literal = this.#string();
    this.#next();
    this.#index++;
    return { key: textOfLiteral(literal), literal, value: this.value() };
  }

  #string(): string {
    const start = this.#index;
    this.#index = endOfString(this.#text, start) + 1;
    const written = this.#text.slice(start, this.#index);
    return written.includes('\\') ? JSON.stringify(JSON.parse(written)) : written;
  }

  #literal(): string {
    const start = this.#index;
    while (isOfLiteral(this.#text.charCodeAt(this.#index))) this.#index++;
    return this.#text.slice(start, this.#index);
  }

  /** Skips white space. Returns the code of the next character; NaN at the end. */
  #next(): number {
    while (isSpace(this.#text.charCodeAt(this.#index))) this.#index++;
    return this.#text.charCodeAt(this.#index);
  }
}

/** Whether a character can be part of a number, true, false or null. False at the end of the text, where the code is NaN. */
function isOfLiteral(code: number): boolean {
  return code > 0x20 && code !== COMMA && code !== CLOSE_BRACKET && code !== CLOSE_BRACE;
}
