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
  const { indent, comma, colon } = how.layout;
  let text = '';
  const write = (value: JsonNode, level: number): void => {
    if (value.kind === 'literal') text += how.number?.(value.text) ?? value.text;
    else if (value.kind === 'string') text += value.literal;
    else if (value.kind === 'array') writeList('[]', value.items, level);
    else writeList('{}', how.order?.(value.members) ?? value.members, level);
  };
  const writeList = (brackets: string, parts: readonly (JsonNode | JsonMember)[], level: number): void => {
    const outer = indent === '' ? '' : `\n${indent.repeat(level)}`;
    text += brackets.charAt(0);
    let before = outer + indent;
    for (const part of parts) {
      if (text.length > longest) return;
      text += before;
      before = comma + outer + indent;
      if ('key' in part) text += part.literal + colon;
      write('key' in part ? part.value : part, level + 1);
    }
    text += (parts.length === 0 ? '' : outer) + brackets.charAt(1);
  };
  write(node, 0);
  return text.length > longest ? undefined : text;
}
