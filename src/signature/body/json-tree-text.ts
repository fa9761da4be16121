import type { JsonMember, JsonNode } from './json-text.ts';
import type { Arrangement, Spelling } from './spellings.ts';

/** Returns a tree as JSON text in one spelling. */
export function jsonTreeText(node: JsonNode, how: Spelling): string {
  return how.escape(arrangedText(node, how, Infinity) ?? '');
}

/**
 * Returns a tree as JSON with the escapes of JSON.stringify. Undefined if the text is longer than `longest` characters: the
 * indented text of a deeply nested body grows with the square of its depth.
 */
export function arrangedText(node: JsonNode, how: Arrangement, longest: number): string | undefined {
  const writer = new TreeWriter(how, longest);
  writer.write(node, 0);
  return writer.text.length > longest ? undefined : writer.text;
}

class TreeWriter {
  text = '';
  readonly #how: Arrangement;
  readonly #longest: number;

  constructor(how: Arrangement, longest: number) {
    this.#how = how;
    this.#longest = longest;
  }

  write(node: JsonNode, level: number): void {
    if (node.kind === 'literal') this.text += node.text;
    else if (node.kind === 'string') this.text += node.literal;
    else if (node.kind === 'array') this.#list('[]', node.items, level);
    else this.#list('{}', this.#how.order?.(node.members) ?? node.members, level);
  }

  #list(brackets: string, parts: readonly (JsonNode | JsonMember)[], level: number): void {
    const { indent, comma, colon } = this.#how.layout;
    const outer = indent === '' ? '' : `\n${indent.repeat(level)}`;
    this.text += brackets.charAt(0);
    let before = outer + indent;
    for (const part of parts) {
      if (this.text.length > this.#longest) return;
      this.text += before;
      before = comma + outer + indent;
      if ('key' in part) this.text += part.literal + colon;
      this.write('key' in part ? part.value : part, level + 1);
    }
    this.text += (parts.length === 0 ? '' : outer) + brackets.charAt(1);
  }
}
