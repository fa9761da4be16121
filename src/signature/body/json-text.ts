import { isUtf8 } from 'node:buffer';
import type { Deadline } from '../deadline.ts';

/**
 * A JSON value as it was written: numbers keep their spelling and members their order, which JSON.parse loses (`1.0`, keys like
 * integers). So a text can be spelled again the way another language would have.
 */
export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  /** The literal is as JSON.stringify writes it, quotes included. */
  | { readonly kind: 'string'; readonly literal: string }
  /** A number, true, false or null, as written. */
  | { readonly kind: 'literal'; readonly text: string };

export interface JsonMember {
  readonly key: string;
  readonly literal: string;
  readonly value: JsonNode;
}

/** Contract, Messages: JSON.stringify overflows the stack at some 4,000 levels, so deeper bodies are not read as JSON. */
const DEEPEST = 512;

/** The text of a body, undefined when it is not UTF-8. A byte order mark stays. */
export function utf8TextOf(body: Buffer): string | undefined {
  return isUtf8(body) ? body.toString('utf8') : undefined;
}

/** Removes the newlines at the end of a text. Without a regular expression, which takes quadratic time over a text full of newlines elsewhere. */
export function withoutNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end--;
  return text.slice(0, end);
}

/** `JSON.stringify(JSON.parse(text))`, or undefined when the text is not JSON, or nested too deep. */
export function stringified(text: string): string | undefined {
  if (isTooDeep(text)) return undefined;
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

/** Parses a text that `stringified` accepts; the result for any other text is meaningless. */
export function parseJsonTree(text: string): JsonNode {
  return new JsonReader(text).value();
}

/** Parses like `parseJsonTree`; undefined when the time is up before the end of the text. */
export function readJsonTextUntil(deadline: Deadline, text: string): JsonNode | undefined {
  const reader = new JsonReader(text, deadline);
  const node = reader.value();
  return reader.isStopped ? undefined : node;
}

/** The text of a literal of JSON.stringify. */
export function textOfLiteral(literal: string): string {
  // Without an escape it is the text in quotes; parsing takes ten times as long.
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1); // a string's literal parses to a string
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d];
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];

/** RFC 8259, section 2. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}

/** The index of the quote that ends the string starting at `start`. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index;
  }
  return text.length;
}

/** The parts read between two looks at the clock, which cost as much as reading a member or two each. */
const PARTS_PER_LOOK = 256;

/** Reads text, not bytes as `message/json` does: a diagnosis compares how each part is spelled, which that scan does not keep. */
class JsonReader {
  readonly #text: string;
  readonly #deadline: Deadline | undefined;
  #index = 0;
  #parts = 0;
  #isStopped = false;

  constructor(text: string, deadline?: Deadline) {
    this.#text = text;
    this.#deadline = deadline;
  }

  get isStopped(): boolean {
    return this.#isStopped;
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
    while (this.#next() !== end && this.#goesOn()) {
      items.push(read());
      if (this.#next() === COMMA) this.#index++;
    }
    this.#index++;
    return items;
  }

  #goesOn(): boolean {
    this.#parts++;
    if (this.#parts % PARTS_PER_LOOK === 0 && this.#deadline?.isOver === true) this.#isStopped = true;
    return !this.#isStopped;
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

  /** Skips white space; the code of the character that comes next, NaN at the end. */
  #next(): number {
    while (isSpace(this.#text.charCodeAt(this.#index))) this.#index++;
    return this.#text.charCodeAt(this.#index);
  }
}

/** Whether a character belongs to a literal. False at the end of the text, where the code is NaN. */
function isOfLiteral(code: number): boolean {
  return code > 0x20 && code !== COMMA && code !== CLOSE_BRACKET && code !== CLOSE_BRACE;
}
