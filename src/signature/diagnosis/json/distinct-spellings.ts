import type { Deadline } from '../deadline.ts';
import type { JsonNode } from './json-text.ts';
import { writeJsonTree } from './json-tree-writer.ts';
import { COMPACT_SPELLING, SPELLINGS, tellingCharacters, type Spelling } from './spellings.ts';

/**
 * The spellings that give a tree different texts, without repeats: few texts have characters that most escapes change, and
 * each spelling left out saves hashing the whole text. Empty when the time is up.
 */
export function distinctSpellings(node: JsonNode, deadline: Deadline): readonly Spelling[] {
  const literal = JSON.stringify(tellingIn(node, deadline).join(''));
  const distinct: { readonly how: Spelling; readonly escaped: string }[] = [];
  for (const how of deadline.isOver ? [] : SPELLINGS) {
    const escaped = how.escape(literal);
    const isKnown = distinct.some(
      (other) =>
        other.escaped === escaped && other.how.layout === how.layout && other.how.order === how.order,
    );
    if (!isKnown) distinct.push({ how, escaped });
  }
  return distinct.map(({ how }) => how);
}

function tellingIn(node: JsonNode, deadline: Deadline): string[] {
  const found = new Set<string>();
  writeJsonTree(node, COMPACT_SPELLING, (piece) => {
    for (const character of tellingCharacters(piece)) found.add(character);
    return !deadline.isOver;
  });
  return [...found];
}
