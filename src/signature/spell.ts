import type { JsonMember, JsonNode } from './json-text.ts';
import type { Spelling } from './spelling.ts';

/** Takes a text piece by piece. */
export type Write = (piece: string) => void;

/** A tree in one spelling, handed over in pieces: a text of megabytes is hashed some forty times without ever being whole. */
export function spell(node: JsonNode, how: Spelling, write: Write): void {
  new Speller(how, write).spell(node);
}

/** The same as one text. */
export function spelled(node: JsonNode, how: Spelling): string {
  let text = '';
  spell(node, how, (piece) => {
    text += piece;
  });
  return text;
}

const PIECE_LENGTH = 64 * 1024;
/** Of a body of 8 MiB; only one that is mostly depth is longer when indented, and then it is cut off and matches nothing. */
const LONGEST_TEXT = 32 * 1024 * 1024;

class Speller {
  readonly #how: Spelling;
  readonly #write: Write;
  #piece = '';
  #length = 0;

  constructor(how: Spelling, write: Write) {
    this.#how = how;
    this.#write = write;
  }

  spell(node: JsonNode): void {
    this.#value(node, 0);
    this.#write(this.#piece);
  }

  #value(node: JsonNode, level: number): void {
    switch (node.kind) {
      case 'literal':
        this.#add(node.text);
        return;
      case 'string':
        this.#add(this.#how.escape(node.text));
        return;
      case 'array':
        this.#list('[]', node.items, level);
        return;
      case 'object':
        this.#list('{}', this.#how.order?.(node.members) ?? node.members, level);
        return;
      default:
        node satisfies never;
    }
  }

  #list(brackets: string, parts: readonly (JsonNode | JsonMember)[], level: number): void {
    const { indent, comma } = this.#how.layout;
    const outer = indent === '' ? '' : `\n${indent.repeat(level)}`;
    this.#add(brackets.charAt(0));
    parts.forEach((part, index) => {
      if (this.#length > LONGEST_TEXT) return;
      this.#add(`${index === 0 ? '' : comma}${outer}${indent}`);
      if ('key' in part) this.#member(part, level);
      else this.#value(part, level + 1);
    });
    this.#add(`${parts.length === 0 ? '' : outer}${brackets.charAt(1)}`);
  }

  #member({ key, value }: JsonMember, level: number): void {
    this.#add(`${this.#how.escape(key)}${this.#how.layout.colon}`);
    this.#value(value, level + 1);
  }

  #add(text: string): void {
    this.#piece += text;
    if (this.#piece.length < PIECE_LENGTH) return;
    this.#length += this.#piece.length;
    this.#write(this.#piece);
    this.#piece = '';
  }
}
