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
  return /\s/.test(text.replaceAll(STRING, ''));
}

/** Matches the string literals of a JSON text. */
export const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** Matches strings, brackets, and numbers or words. White space, commas and colons are left out. */
const TOKEN = new RegExp(`${STRING.source}|[[\\]{}]|[^\\s,:"[\\]{}]+`, 'g');

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

/** Number of tokens to read between two checks of the deadline. One check costs as much as reading one or two tokens. */
const TOKENS_PER_LOOK = 256;

/**
 * Reads JSON into nodes that keep the spelling, which a diagnosis compares and the readers of `message/json` do not keep.
 */
class JsonReader {
  readonly #tokens: Iterator<RegExpMatchArray>;
  readonly #deadline: Deadline | undefined;
  #read = 0;
  /** Whether reading stopped because the deadline passed. */
  isStopped = false;

  constructor(text: string, deadline?: Deadline) {
    this.#tokens = text.matchAll(TOKEN);
    this.#deadline = deadline;
  }

  value(token = this.#next()): JsonNode {
    if (token === '{') return { kind: 'object', members: this.#list('}', (key) => this.#member(key)) };
    if (token === '[') return { kind: 'array', items: this.#list(']', (first) => this.value(first)) };
    return token.startsWith('"')
      ? { kind: 'string', literal: literalOf(token) }
      : { kind: 'literal', text: token };
  }

  #list<Item>(end: string, read: (token: string) => Item): Item[] {
    const items: Item[] = [];
    for (let token = this.#next(); token !== end && !this.isStopped; token = this.#next()) {
      items.push(read(token));
    }
    return items;
  }

  #member(token: string): JsonMember {
    const literal = literalOf(token);
    return { key: textOfLiteral(literal), literal, value: this.value() };
  }

  #next(): string {
    this.#read++;
    if (this.#read % TOKENS_PER_LOOK === 0 && this.#deadline?.isOver === true) this.isStopped = true;
    const { done, value } = this.#tokens.next();
    // The text is JSON, so its tokens do not end within a value.
    return done === true ? '' : value[0];
  }
}

/** Writes a string of JSON with the escapes of JSON.stringify. */
function literalOf(written: string): string {
  return written.includes('\\') ? JSON.stringify(JSON.parse(written)) : written;
}
