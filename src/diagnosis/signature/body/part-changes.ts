import { textOfLiteral, type JsonMember, type JsonNode } from '../../../signature/body/json-text.ts';
import { jsonTreeText } from '../../../signature/body/json-tree-text.ts';
import { COMPACT_SPELLING } from '../../../signature/body/spellings.ts';
import { SAME_BYTES } from '../../../signature/reasons.ts';
import { ChangeTable, coded, replaced, type Changed, type Cost } from '../change.ts';

/** Names of members in which services wrap a body. The signature may cover only the member, not the whole body. */
const WRAPPERS = ['body', 'payload', 'data', 'message'];

/** Changes to parsed JSON: use only a part of it, wrap it in a list, or rewrite members and values as frameworks do. */
export const PART_CHANGES = new ChangeTable([
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
  ...coded<JsonNode, string>(
    'other-encoding',
    [
      [
        2,
        'without the members that are null',
        (node) => withMembers(node, (all) => all.filter(({ value }) => compact(value) !== 'null')),
      ],
      [
        2,
        'with null for its empty strings, as Laravel reads them',
        (node) => replaced(compact(node), /(?<=[:,[])""(?=[,}\]])/g, 'null'),
      ],
      [
        2,
        'with its keys in PascalCase, as .NET writes them',
        (node) => withMembers(node, (all) => all.map(inPascalCase)),
      ],
      [1, 'with {} written as [], as PHP does', (node) => replaced(compact(node), /:\{\}/g, ':[]')],
    ],
    SAME_BYTES,
  ),
]);

function inPascalCase(member: JsonMember): JsonMember {
  const key = member.key.replace(/^[a-z]/, (first) => first.toUpperCase());
  return { key, literal: JSON.stringify(key), value: member.value };
}

/** Applies `change` to the members of every object, at any depth, and returns the result as compact JSON. */
function withMembers(node: JsonNode, change: (all: readonly JsonMember[]) => readonly JsonMember[]): string {
  return compact(
    mapped(node, (each) =>
      each.kind === 'object' ? { kind: 'object', members: change(each.members) } : each,
    ),
  );
}

/** Returns a member's object or list as compact JSON, or its string if that starts like JSON. Otherwise undefined. */
function memberText(node: JsonNode, name: string): string | undefined {
  const member = nodeMembers(node).find(({ key }) => key === name)?.value;
  if (member === undefined || member.kind === 'literal') return undefined;
  if (member.kind !== 'string') return compact(member);
  return /^"\s*[[{]/.test(member.literal) ? textOfLiteral(member.literal) : undefined;
}

/**
 * Yields the body with `.0` after all its whole numbers (cost 1), or after one of the first MOST_NUMBERS (cost 2).
 * Python, Ruby and Java write the float 1 as `1.0`. A JavaScript program that rewrites the body drops the `.0`.
 */
export function* withFloats(node: JsonNode, cost: Cost): Generator<Changed<string>> {
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

function nodeMembers(node: JsonNode): readonly JsonMember[] {
  return node.kind === 'object' ? node.members : [];
}

/** Returns the messages of a list, or of a batch as in Segment's API: `{"batch":[…]}`. Undefined for other JSON. */
function listIn(node: JsonNode): readonly JsonNode[] | undefined {
  if (node.kind === 'array') return node.items;
  const batch = nodeMembers(node).find(({ key }) => key === 'batch')?.value;
  return batch?.kind === 'array' ? batch.items : undefined;
}

/** Writes JSON as JSON.stringify does, but keeps numbers as they were written and keys in their order. */
function compact(node: JsonNode): string {
  return jsonTreeText(node, COMPACT_SPELLING);
}

/** Copies a tree and replaces each of its nodes, children before their parents. */
function mapped(node: JsonNode, replace: (node: JsonNode) => JsonNode): JsonNode {
  if (node.kind === 'array') {
    return replace({ kind: 'array', items: node.items.map((item) => mapped(item, replace)) });
  }
  if (node.kind !== 'object') return replace(node);
  return replace({
    kind: 'object',
    members: node.members.map((member) => ({ ...member, value: mapped(member.value, replace) })),
  });
}
