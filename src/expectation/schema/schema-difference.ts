import type { ErrorObject } from 'ajv';
import { formatPath } from '../../message/json/json-path.ts';
import { isJsonObject, type JsonValue } from '../../message/types.ts';
import { foundValue, type MessageDifference } from '../expectation-result.ts';

/** Converts an error of the validator to the path, the expected and the actual value. */
export function schemaDifference({
  instancePath,
  keyword,
  params,
  message = '',
  data,
  propertyName,
}: ErrorObject): MessageDifference {
  const steps = instancePath.split('/').slice(1).map(pathStep);
  const facts = params as Readonly<Record<string, unknown>>; // an object that depends on the keyword
  const found = data as JsonValue; // a part of the message
  const missing = keyword === 'required' ? facts['missingProperty'] : undefined;
  if (typeof missing === 'string') {
    return difference([...steps, missing], 'something', { wanted: { present: true }, found: undefined });
  }
  const extra = facts['additionalProperty'] ?? facts['unevaluatedProperty'];
  if (typeof extra === 'string') {
    const value = isJsonObject(found) ? found[extra] : undefined;
    return difference([...steps, extra], 'nothing', { wanted: { present: false }, found: value });
  }
  const expected = expectedOf(keyword, facts, message);
  const of = propertyName === undefined ? expected : expected.replace(/^a value/, 'a key');
  return difference(steps, of, { wanted: { schema: message }, found });
}

function expectedOf(keyword: string, params: Readonly<Record<string, unknown>>, message: string): string {
  if (keyword === 'type') return `a value of type ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'enum') return `one of ${JSON.stringify(params['allowedValues'])}`;
  if (keyword === 'const') return JSON.stringify(params['allowedValue']);
  if (keyword === 'not') return 'a value that the schema under `not` rejects';
  if (keyword === 'format') return `a value of format ${String(params['format'])}`;
  return `a value that ${VERBS.reduce((text, [must, does]) => text.replace(must, does), message)}`;
}

/** Beginnings of the validator's messages, and the verbs that replace them: `must be integer` becomes `is integer`. */
const VERBS = [
  [/^must NOT have /, 'does not have '],
  [/^must NOT be /, 'is not '],
  [/^must be /, 'is '],
  [/^must have /, 'has '],
  [/^must match /, 'matches '],
  [/^must contain /, 'contains '],
] as const;

function difference(
  steps: readonly (string | number)[],
  expected: string,
  { wanted, found }: Pick<MessageDifference, 'wanted' | 'found'>,
): MessageDifference {
  return { path: formatPath(steps) || 'message', expected, wanted, got: foundValue(found), found };
}

/** Decodes a step of a JSON pointer (RFC 6901). */
function pathStep(step: string): string | number {
  const text = step.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}
