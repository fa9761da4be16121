import type { JsonMember, JsonNode } from '../../../signature/body/json-text.ts';
import { replaced, type ChangeRow } from '../change.ts';
import { compact, mapped } from './json-trees.ts';

export type JsonRow = ChangeRow<JsonNode, string>;

/** Styles to which serializers of .NET, Java and Python convert keys. */
const KEY_STYLES: readonly (readonly [style: string, change: (key: string) => string])[] = [
  ['PascalCase', (key) => key.replace(/^[a-z]/, (first) => first.toUpperCase())],
  ['camelCase', (key) => key.replace(/^[A-Z]/, (first) => first.toLowerCase())],
  ['snake_case', (key) => key.replace(/[a-z][A-Z]/g, ([low, high]) => `${low}_${high?.toLowerCase()}`)],
];

/** Changes that a program may make to the members and values of JSON when it parses and rewrites the body. */
export const VALUE_ROWS: readonly JsonRow[] = [
  [
    2,
    'without the members that are null',
    (node) => withMembers(node, (all) => all.filter(({ value }) => !isNull(value))),
  ],
  [
    2,
    'with null for its empty strings, as Laravel reads them',
    (node) => compact(mapped(node, nullForEmpty)),
  ],
  ...KEY_STYLES.map(([style, change]): JsonRow => {
    const renamed = ({ key, value }: JsonMember): JsonMember => {
      return { key: change(key), literal: JSON.stringify(change(key)), value };
    };
    return [2, `with its keys in ${style}`, (node) => withMembers(node, (all) => all.map(renamed))];
  }),
  [1, 'with {} written as [], as PHP does', (node) => replaced(compact(node), /:\{\}/g, ':[]')],
];

/** Applies `change` to the members of every object, at any depth, and returns the result as compact JSON. */
function withMembers(node: JsonNode, change: (all: readonly JsonMember[]) => readonly JsonMember[]): string {
  return compact(
    mapped(node, (each) =>
      each.kind === 'object' ? { kind: 'object', members: change(each.members) } : each,
    ),
  );
}

function isNull(value: JsonNode): boolean {
  return value.kind === 'literal' && value.text === 'null';
}

function nullForEmpty(node: JsonNode): JsonNode {
  return node.kind === 'string' && node.literal === '""' ? { kind: 'literal', text: 'null' } : node;
}
