import type { BodyVariant, BodyPieces } from './body-variant.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { readJsonTextUntil, textOfLiteral, type JsonNode } from '../../../signature/body/json-text.ts';
import { writeJsonTree } from '../../../signature/body/json-tree-writer.ts';
import {
  COMPACT_SPELLING,
  SPELLINGS,
  tellingCharacters,
  type Spelling,
} from '../../../signature/body/spellings.ts';

/** Yields the same JSON as other languages write it, and parts of it. Ends early when the time is up. */
export function* jsonVariants(text: string, deadline: Deadline): Generator<BodyVariant> {
  const node = readJsonTextUntil(deadline, text);
  if (node === undefined) return;
  // The variants of a list come first, because trying one message takes less time than trying all of them.
  yield* listVariants(node, text.trim(), deadline);
  const tree = new SpelledTree(node, text.length);
  for (const how of distinctSpellings(node, deadline)) {
    yield { code: how.code, would: how.would, bytes: tree.pieces(how) };
  }
  if (node.kind === 'string') {
    const bytes = textOfLiteral(node.literal);
    yield { code: 'other-encoding', would: 'over the text inside the JSON string', bytes };
  }
}

function* listVariants(node: JsonNode, text: string, deadline: Deadline): Generator<BodyVariant> {
  const code = 'first-of-array';
  const first = firstMessage(node);
  if (first === undefined) {
    yield { code, would: 'with the message in a list', bytes: `[${text}]` };
    yield { code, would: 'with the message in a batch', bytes: `{"batch":[${text}]}` };
    return;
  }
  const tree = new SpelledTree(first, text.length);
  for (const how of distinctSpellings(first, deadline)) {
    const would = `over the first message of the list alone, ${how.would}`;
    yield { code, would, bytes: tree.pieces(how) };
  }
}

/** The first message of `[…]` or `{"batch":[…]}`. */
function firstMessage(node: JsonNode): JsonNode | undefined {
  if (node.kind === 'array') return node.items[0];
  if (node.kind !== 'object') return undefined;
  const batch = node.members.find(({ key }) => key === 'batch')?.value;
  return batch?.kind === 'array' ? batch.items[0] : undefined;
}

const LEAST_LONGEST_SPELLED = 1024 * 1024;
/**
 * Maximum characters of a spelled JSON text that is kept for spellings that differ only in escapes: enough for an indented
 * batch of the largest size.
 */
const LONGEST_KEPT = 2 * 1024 * 1024;

/** Writes a JSON tree in several spellings. Spellings that differ only in their escapes share the layout work. */
class SpelledTree {
  readonly #node: JsonNode;
  /**
   * Maximum characters of the body in one spelling of its JSON. A deeply nested body of 32 KB takes 30 MB when indented,
   * quadratic in its length. No sender's indentation comes near this limit; a longer text is cut off and matches nothing.
   */
  readonly #longest: number;
  readonly #kept: { readonly how: Spelling; readonly pieces: readonly string[] }[] = [];

  constructor(node: JsonNode, textLength: number) {
    this.#node = node;
    this.#longest = Math.max(LEAST_LONGEST_SPELLED, 16 * textLength);
  }

  pieces(how: Spelling): BodyPieces {
    return (write) => {
      const same = this.#kept.find((kept) => differOnlyInEscapes(kept.how, how));
      if (same === undefined) this.#arrange(how, write);
      else same.pieces.every((piece) => write(how.escape(piece)));
    };
  }

  #arrange(how: Spelling, write: Parameters<BodyPieces>[0]): void {
    const pieces: string[] = [];
    let length = 0;
    let isWhole = true;
    writeJsonTree(this.#node, how, (piece) => {
      length += piece.length;
      if (length <= LONGEST_KEPT) pieces.push(piece);
      isWhole = write(how.escape(piece)) && length <= this.#longest;
      return isWhole;
    });
    if (isWhole && length <= LONGEST_KEPT) this.#kept.push({ how, pieces });
  }
}

function differOnlyInEscapes(one: Spelling, other: Spelling): boolean {
  return one.layout === other.layout && one.order === other.order;
}

/**
 * The spellings that write this JSON tree as different texts. Most spellings differ only in the escapes of rare
 * characters, and each one that is left out saves hashing the whole text. Empty when the time is up.
 */
function distinctSpellings(node: JsonNode, deadline: Deadline): readonly Spelling[] {
  const literal = JSON.stringify(tellingIn(node, deadline).join(''));
  const distinct: { readonly how: Spelling; readonly escaped: string }[] = [];
  for (const how of deadline.isOver ? [] : SPELLINGS) {
    const escaped = how.escape(literal);
    const isKnown = distinct.some(
      (other) => other.escaped === escaped && differOnlyInEscapes(other.how, how),
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
