import { isUtf8 } from 'node:buffer';

/**
 * JSON as it was written: numbers keep their spelling and members their order, which JSON.parse loses (`1.0`, keys like
 * integers). So a text can be spelled again the way another language would have.
 */
export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly text: string }
  /** A number, true, false or null, as written. */
  | { readonly kind: 'literal'; readonly text: string };

export interface JsonMember {
  readonly key: string;
  readonly value: JsonNode;
}

/** Contract, Messages: JSON.stringify overflows the stack at some 4,000 levels, so deeper bodies are not read as JSON. */
const DEEPEST = 512;

/** The text of a body, undefined when it is not UTF-8. A byte order mark stays. */
export function bodyText(body: Buffer): string | undefined {
  return isUtf8(body) ? body.toString('utf8') : undefined;
}

/** The text without the newlines at its end. No regular expression: one takes for ever over a text full of newlines elsewhere. */
export function withoutNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end--;
  return text.slice(0, end);
}

/** `JSON.stringify(JSON.parse(text))`, or undefined when the text is no JSON, or nested too deep. */
export function stringified(text: string): string | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whether there is white space between the parts of a JSON text; what is inside a string is no matter. */
export function hasWhiteSpace(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (character === '"') index = endOfString(text, index);
    else if (/\s/.test(character)) return true;
  }
  return false;
}

/** The tree of a text of which `stringified` has made something; of any other text it means nothing. */
export function readJsonText(text: string): JsonNode {
  return new JsonReader(text).value();
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}

/** The index of the quote that ends the string starting at `start`. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const character = text[index];
    if (character === '\\') index++;
    else if (character === '"') return index;
  }
  return text.length;
}

class JsonReader {
  readonly #text: string;
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): JsonNode {
    const character = this.#next();
    if (character === '{') return { kind: 'object', members: this.#list('}', () => this.#member()) };
    if (character === '[') return { kind: 'array', items: this.#list(']', () => this.value()) };
    if (character === '"') return { kind: 'string', text: this.#string() };
    return { kind: 'literal', text: this.#literal() };
  }

  #list<Item>(end: string, read: () => Item): Item[] {
    const items: Item[] = [];
    this.#index++;
    while (this.#next() !== end) {
      items.push(read());
      if (this.#next() === ',') this.#index++;
    }
    this.#index++;
    return items;
  }

  #member(): JsonMember {
    const key = this.#string();
    this.#next();
    this.#index++;
    return { key, value: this.value() };
  }

  #string(): string {
    const start = this.#index;
    this.#index = endOfString(this.#text, start) + 1;
    return JSON.parse(this.#text.slice(start, this.#index)) as string; // a string's literal parses to a string
  }

  #literal(): string {
    const start = this.#index;
    while (/[\w.+-]/.test(this.#text[this.#index] ?? '')) this.#index++;
    return this.#text.slice(start, this.#index);
  }

  /** Skips white space; the character that comes next. */
  #next(): string | undefined {
    while (/\s/.test(this.#text[this.#index] ?? '')) this.#index++;
    return this.#text[this.#index];
  }
}
