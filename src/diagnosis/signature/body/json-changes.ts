import {
  readJsonTextUntil,
  STRING,
  textOfLiteral,
  type JsonNode,
} from '../../../signature/body/json-text.ts';
import { arrangedText } from '../../../signature/body/json-tree-text.ts';
import { SAME_BYTES } from '../../../signature/reasons.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import {
  jsonSpellingsOfCost,
  COMPACT_SPELLING,
  spellingDifference,
  tellingCharacters,
  type Spelling,
} from '../../../signature/body/spellings.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { compact, listIn, mapped, nodeMembers } from './json-trees.ts';
import { VALUE_ROWS } from './value-rows.ts';
import { ChangeTable, coded, type Changed, type Cost } from '../change.ts';

/**
 * Applies the changes of this cost to the content of JSON: takes one part, puts the whole into a list, drops members,
 * renames keys or changes values. Returns nothing for a body that is not JSON.
 */
export function jsonParts(body: KeptBody, cost: Cost, deadline: Deadline): readonly Changed<string>[] {
  const json = spelledJson(body, deadline);
  return json === undefined ? [] : PART_CHANGES.changes(json.node, cost);
}

/** Yields JSON with `.0` after all whole numbers (cost 1) or one of them (cost 2). Yields nothing for other bodies. */
export function* jsonNumbers(body: KeptBody, cost: Cost, deadline: Deadline): Generator<Changed<string>> {
  const json = spelledJson(body, deadline);
  if (json !== undefined) yield* withFloats(json.node, cost);
}

/** Yields the JSON of a body in styles of other serializers, such as Python's json.dumps. Rarer styles cost more. */
export function* jsonSpellings(body: KeptBody, cost: Cost, deadline: Deadline): Generator<Changed<string>> {
  const json = spelledJson(body, deadline);
  if (json !== undefined) yield* json.spelled(cost);
}

const read = new WeakMap<KeptBody, SpelledJson>();

/** Parses a body and caches the result. Undefined for all but JSON objects, lists and strings, or if time runs out. */
function spelledJson(body: KeptBody, deadline: Deadline): SpelledJson | undefined {
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

/** Parsed JSON, to be written as other programs write it: with their white space, escapes, numbers and key order. */
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
  /** A JSON string literal of the characters that not all serializers escape alike. Undefined until it is needed. */
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

  /** Whether a style's numbers and unusual escapes affect this JSON. If not, another style writes the same text. */
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

/** Number of characters to which even a small body may grow when it is rewritten, with indentation for example. */
const LEAST_LONGEST = 1024 * 1024;

/** Returns a member's object or list as compact JSON, or its string if that starts like JSON. Otherwise undefined. */
function memberText(node: JsonNode, name: string): string | undefined {
  const member = nodeMembers(node).find(({ key }) => key === name)?.value;
  if (member === undefined || member.kind === 'literal') return undefined;
  if (member.kind !== 'string') return compact(member);
  return /^"\s*[[{]/.test(member.literal) ? textOfLiteral(member.literal) : undefined;
}

/** Names of members in which services wrap a body. The signature may cover only the member, not the whole body. */
const WRAPPERS = ['body', 'payload', 'data', 'message'];

const PART_CHANGES = new ChangeTable([
  ...coded<JsonNode, string>('first-of-array', [
    [1, 'over the first message of the list alone', (node) => listIn(node)?.slice(0, 1).map(compact)[0]],
    [2, 'with the message in a list', (node) => (listIn(node) ? undefined : `[${compact(node)}]`)],
  ]),
  ...coded<JsonNode, string>(
    'wrapped-body',
    WRAPPERS.map((name) => [
      1,
      `over the member \`${name}\` of the body alone`,
      (node) => memberText(node, name),
    ]),
  ),
  ...coded('other-encoding', VALUE_ROWS, SAME_BYTES),
]);

/**
 * Yields the body with `.0` after all its whole numbers (cost 1), or after one of the first MOST_NUMBERS (cost 2).
 * Python, Ruby and Java write the float 1 as `1.0`. A JavaScript program that rewrites the body drops the `.0`.
 */
function* withFloats(node: JsonNode, cost: Cost): Generator<Changed<string>> {
  if (cost > 2) return;
  const numbers: JsonNode[] = [];
  mapped(node, (each) => {
    if (each.kind === 'literal' && /^-?\d+$/.test(each.text)) numbers.push(each);
    return each;
  });
  const single = numbers.length < 2 ? [] : numbers.slice(0, MOST_NUMBERS).map((each) => [each]);
  for (const some of (cost === 1 ? [numbers] : single).map((each) => new Set(each))) {
    const value = compact(
      mapped(node, (each) =>
        each.kind === 'literal' && some.has(each) ? { ...each, text: `${each.text}.0` } : each,
      ),
    );
    const would = 'with .0 after its whole numbers, as the sender wrote them';
    if (some.size > 0) yield { code: 'other-encoding', would, fix: FLOATS, cost, value };
  }
}

const FLOATS = 'Pass the bytes on as they came: a program between parsed the JSON and wrote it again';
/** Maximum number of whole numbers to change one at a time. */
const MOST_NUMBERS = 20;
