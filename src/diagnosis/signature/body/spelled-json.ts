import { readJsonTextUntil, STRING, type JsonNode } from '../../../signature/body/json-text.ts';
import { arrangedText } from '../../../signature/body/json-tree-text.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import {
  jsonSpellingsOfCost,
  COMPACT_SPELLING,
  spellingDifference,
  tellingCharacters,
  type Spelling,
} from '../../../signature/body/spellings.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import type { Changed, Cost } from '../change.ts';

const read = new WeakMap<KeptBody, SpelledJson>();

/** Parses a body and caches the result. Undefined for all but JSON objects, lists and strings, or if time runs out. */
export function spelledJson(body: KeptBody, deadline: Deadline): SpelledJson | undefined {
  const known = read.get(body);
  if (known !== undefined || !/^\s*[[{"]/.test(body.head)) return known;
  const { text, json } = body;
  const node = text === undefined || json === undefined ? undefined : readJsonTextUntil(deadline, text);
  if (node === undefined || text === undefined) return undefined;
  const spelled = new SpelledJson(node, text, deadline);
  read.set(body, spelled);
  return spelled;
}

const spellings = new Map<Cost, readonly Spelling[]>();

/** Serializes parsed JSON as other programs do: with their white space, escapes, forms of numbers and key order. */
class SpelledJson {
  readonly node: JsonNode;
  readonly #given: string;
  readonly #deadline: Deadline;
  /**
   * Maximum length of the rewritten JSON before escaping, in characters. A deeply nested body of 32 KB could grow to
   * 30 MB when indented, because each level is indented more than the last. Real bodies stay far below this limit.
   */
  readonly #longest: number;
  /** The last style, and its text before escaping, which is reused for styles that differ only in their escapes. */
  #last: { readonly how: Spelling; readonly text: string } | undefined;
  /** JSON string literal of the characters in this JSON that serializers escape differently. Computed on first use. */
  #escaped: string | undefined;
  /** The distinct numbers of the JSON, as written there (`1.0` is not `1`). */
  readonly #numbers: readonly string[];

  constructor(node: JsonNode, given: string, deadline: Deadline) {
    this.node = node;
    this.#given = given;
    this.#deadline = deadline;
    this.#numbers = [...new Set(given.replaceAll(STRING, '').match(/-?\d[^\s,\]}]*/g))];
    this.#longest = Math.max(LEAST_LONGEST, 16 * given.length);
  }

  /** Yields the JSON in the styles of this cost, as other serializers write it, such as Python's json.dumps. */
  *spelled(cost: Cost): Generator<Changed<string>> {
    const hows = spellings.get(cost) ?? jsonSpellingsOfCost(cost);
    spellings.set(cost, hows);
    for (const how of hows) {
      if (!this.#tells(how)) continue;
      const text = this.#textOf(how);
      if (text === undefined) continue;
      const { code, would } = how;
      const value = how.escape(text);
      const refined = (): Pick<Spelling, 'code' | 'would'> =>
        spellingDifference(this.#given, value, how.parts) ?? { code, would };
      yield { code, would, cost, value, refined };
    }
  }

  /** Whether a style writes a text of its own. False if its numbers or its unusual escapes do not affect this JSON. */
  #tells({ escape, usual, number }: Spelling): boolean {
    if (number !== undefined && !this.#numbers.some((text) => number(text) !== text)) return false;
    const literal = (this.#escaped ??= JSON.stringify(
      tellingCharacters(this.#textOf(COMPACT_SPELLING) ?? '').join(''),
    ));
    return escape === usual || escape(literal) !== usual(literal);
  }

  #textOf(how: Spelling): string | undefined {
    const { layout, order, number } = how;
    const last = this.#last?.how;
    const isSame = last?.layout === layout && last.order === order && last.number === number;
    if (isSame) return this.#last?.text;
    const text = this.#deadline.isOver ? undefined : arrangedText(this.node, how, this.#longest);
    if (text !== undefined) this.#last = { how, text };
    return text;
  }
}

/** Minimum of `#longest`, because a small body can grow a lot when it is rewritten, for example with indentation. */
const LEAST_LONGEST = 1024 * 1024;
