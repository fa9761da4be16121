import type { JsonNode } from '../../../signature/body/json-text.ts';
import { jsonTreeText } from '../../../signature/body/json-tree-text.ts';
import { COMPACT_SPELLING } from '../../../signature/body/spellings.ts';
import { replaced, type ChangeRow } from '../change.ts';
import { dropped, mapped } from './json-trees.ts';

/** A row for a change of JSON, whose result is text. */
export type JsonRow = ChangeRow<JsonNode, string>;

/** Writes JSON without white space. */
export function compact(node: JsonNode): string {
  return jsonTreeText(node, COMPACT_SPELLING);
}

function ifDifferent(node: JsonNode, change: (node: JsonNode) => JsonNode): string | undefined {
  const changed = change(node);
  return changed === node ? undefined : compact(changed);
}

/** Matches keys that frameworks add to a parsed body: routes (Rails, Phoenix), ids (Mongoose), tokens of forms. */
const FRAMEWORK_KEYS =
  /^(?:controller|action|format|_id|__v|_csrf|_token|_method|_format|authenticity_token|webhook)$/;

const isEmpty = (value: JsonNode): boolean =>
  (value.kind === 'object' && value.members.length === 0) ||
  (value.kind === 'array' && value.items.length === 0);
const isNull = (value: JsonNode): boolean => value.kind === 'literal' && value.text === 'null';
const isEmptyText = (value: JsonNode): boolean => value.kind === 'string' && value.literal === '""';

function nullForEmpty(node: JsonNode): JsonNode {
  return isEmptyText(node) ? { kind: 'literal', text: 'null' } : node;
}

function asNumber(node: JsonNode): JsonNode {
  const [, text] = (node.kind === 'string' && /^"(-?(?:0|[1-9]\d*)(?:\.\d+)?)"$/.exec(node.literal)) || [];
  return text === undefined ? node : { kind: 'literal', text };
}

function asDigits(node: JsonNode): JsonNode {
  const isNumber = node.kind === 'literal' && /^-?\d/.test(node.text);
  return isNumber ? { kind: 'string', literal: `"${node.text}"` } : node;
}

/** Styles in which serializers of .NET, Java and Python write keys. */
const KEY_STYLES: readonly (readonly [style: string, change: (key: string) => string])[] = [
  ['PascalCase', (key) => key.replace(/^[a-z]/, (first) => first.toUpperCase())],
  ['camelCase', (key) => key.replace(/^[A-Z]/, (first) => first.toLowerCase())],
  ['snake_case', (key) => key.replace(/[a-z][A-Z]/g, ([low, high]) => `${low}_${high?.toLowerCase()}`)],
];

function withKeys(node: JsonNode, change: (key: string) => string): JsonNode {
  if (node.kind !== 'object') return node;
  const members = node.members.map(({ key, value }) => {
    return { key: change(key), literal: JSON.stringify(change(key)), value };
  });
  return { kind: 'object', members };
}

/** Changes that programs make to the members and values of JSON when they parse it and write it again. */
export const VALUE_ROWS: readonly JsonRow[] = [
  [
    2,
    'without the members that are null',
    (node) => ifDifferent(node, (each) => dropped(each, ({ value }) => isNull(value))),
  ],
  [
    3,
    'without the members that are null or empty',
    (node) =>
      ifDifferent(node, (each) =>
        dropped(each, ({ value }) => isNull(value) || isEmpty(value) || isEmptyText(value)),
      ),
  ],
  [
    2,
    'without the members that a framework adds to the parsed body',
    (node) => ifDifferent(node, (each) => dropped(each, ({ key }) => FRAMEWORK_KEYS.test(key))),
  ],
  [
    2,
    'with null for its empty strings, as Laravel reads them',
    (node) => compact(mapped(node, nullForEmpty)),
  ],
  ...KEY_STYLES.map(([style, change]): JsonRow => {
    return [
      2,
      `with its keys in ${style}`,
      (node) => compact(mapped(node, (each) => withKeys(each, change))),
    ];
  }),
  [
    2,
    'with numbers for its strings of digits, as JSON_NUMERIC_CHECK of PHP writes them',
    (node) => ifDifferent(node, (each) => mapped(each, asNumber)),
  ],
  [2, 'with strings for its numbers', (node) => ifDifferent(node, (each) => mapped(each, asDigits))],
  [1, 'with {} written as [], as PHP does', (node) => replaced(compact(node), /:\{\}/g, ':[]')],
];
