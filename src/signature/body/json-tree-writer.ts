import type { JsonMember, JsonNode } from './json-text.ts';
import type { Arrangement, Spelling } from './spellings.ts';

/** Receives a piece of a text. Returns whether the writer shall continue. */
export type WritePiece = (piece: string) => boolean;

/**
 * Writes a tree as JSON with the escapes of JSON.stringify, in pieces of about 64 K characters, so that megabytes never are
 * one string.
 */
export function writeJsonTree(node: JsonNode, how: Arrangement, write: WritePiece): void {
  new JsonTreeWriter(how, write).arrange(node);
}

/** Returns a tree as JSON text in one spelling. */
export function jsonTreeText(node: JsonNode, how: Spelling): string {
  let text = '';
  writeJsonTree(node, how, (piece) => {
    text += how.escape(piece);
    return true;
  });
  return text;
}

const PIECE_LENGTH = 64 * 1024;

class JsonTreeWriter {
  readonly #how: Arrangement;
  readonly #write: WritePiece;
  #piece = '';
  #isWanted = true;

  constructor(how: Arrangement, write: WritePiece) {
    this.#how = how;
    this.#write = write;
  }

  arrange(node: JsonNode): void {
    this.#value(node, 0);
    if (this.#isWanted) this.#hand();
  }

  #value(node: JsonNode, level: number): void {
    switch (node.kind) {
      case 'literal':
        this.#add(node.text);
        return;
      case 'string':
        this.#add(node.literal);
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
    let before = `${outer}${indent}`;
    for (const part of parts) {
      if (!this.#isWanted) return;
      this.#add(before);
      before = `${comma}${outer}${indent}`;
      if ('key' in part) this.#member(part, level);
      else this.#value(part, level + 1);
    }
    this.#add(`${parts.length === 0 ? '' : outer}${brackets.charAt(1)}`);
  }

  #member({ literal, value }: JsonMember, level: number): void {
    this.#add(literal + this.#how.layout.colon);
    this.#value(value, level + 1);
  }

  #add(text: string): void {
    this.#piece += text;
    if (this.#piece.length >= PIECE_LENGTH) this.#hand();
  }

  #hand(): void {
    const text = this.#piece;
    this.#piece = '';
    for (let start = 0, end = 0; start < text.length && this.#isWanted; start = end) {
      end = endOfPiece(text, start);
      this.#isWanted = this.#write(text.slice(start, end));
    }
  }
}

/**
 * The index at which to cut a long text: neither between surrogates, which would become other characters, nor inside an
 * escape.
 */
function endOfPiece(text: string, start: number): number {
  let end = Math.min(start + PIECE_LENGTH, text.length);
  let backslashes = 0;
  while (text[end - 1 - backslashes] === '\\') backslashes++;
  if (backslashes % 2 === 1) end++;
  return /[\uDC00-\uDFFF]/.test(text.charAt(end)) ? end + 1 : end;
}
