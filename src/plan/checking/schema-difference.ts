import type { ErrorObject } from 'ajv';
import { formatPath, type PathStep } from '../../message/json/json-path.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { isSecretHeader, MASK, withoutWriteKeys } from '../../redact.ts';
import { isSlowPattern } from './plan-pattern.ts';
import type { PlanViolation, ViolationKind } from '../violation.ts';

/** Maximum length of a value in a sentence. */
const MAX_VALUE = 200;

/** Converts an error of the validator to a violation: its kind, path, expected and actual value. */
export function schemaDifference({
  instancePath,
  keyword,
  params,
  message = '',
  data,
  propertyName,
}: ErrorObject): PlanViolation {
  const steps = instancePath.split('/').slice(1).map(pathStep);
  const facts = params as Readonly<Record<string, unknown>>; // an object that depends on the keyword
  const found = data as JsonValue; // a part of the message
  const missing = keyword === 'required' ? facts['missingProperty'] : undefined;
  if (typeof missing === 'string') {
    return violation([...steps, missing], {
      kind: 'missing',
      expected: 'something',
      wanted: { present: true },
      found: undefined,
    });
  }
  const extra = facts['additionalProperty'] ?? facts['unevaluatedProperty'];
  if (typeof extra === 'string') {
    const value = isJsonObject(found) ? found[extra] : undefined;
    return unplannedProperty([...steps, extra], value);
  }
  const expected = expectedOf(keyword, facts, message);
  const of = propertyName === undefined ? expected : expected.replace(/^a value/, 'a key');
  return violation(steps, {
    kind: KINDS[keyword] ?? 'other',
    expected: of,
    wanted: { schema: message },
    found,
  });
}

/** The violation of a property that the rule does not list. `near` is a listed name that resembles it. */
export function unplannedProperty(
  steps: readonly PathStep[],
  found: JsonValue | undefined,
  near?: string,
): PlanViolation {
  const expected = near === undefined ? 'nothing' : `nothing (is ${JSON.stringify(near)} meant?)`;
  return violation(steps, { kind: 'unplanned-property', expected, wanted: { present: false }, found });
}

/** Makes a violation at a path. Its pointer and its texts follow from the path and the values. */
export function violation(
  steps: readonly PathStep[],
  about: Pick<PlanViolation, 'kind' | 'expected' | 'wanted' | 'found'>,
): PlanViolation {
  const pointer = steps
    .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
  const found = withoutKeys(steps.at(-1), masked(steps.at(-1), about.found));
  const got = found === undefined ? 'nothing' : JSON.stringify(found);
  const path = formatPath(steps) || 'message';
  const sentence = `Violates the plan at \`${path}\`: expected ${about.expected}, got ${got.slice(0, MAX_VALUE)}`;
  return { ...about, found, path, pointer, got, sentence };
}

/** Masks the value of a property whose name says that it is a secret, such as `password`. */
function masked(name: PathStep = '', value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' && isSecretHeader(String(name)) && name !== 'writeKey' ? MASK : value;
}

/** Shortens write keys in the value of a property, because they are secrets. */
function withoutKeys(name: PathStep = '', value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify({ [name]: value });
  const shown = withoutWriteKeys(text);
  if (shown === text) return value;
  return (JSON.parse(shown) as JsonObject)[name]; // the same object, with other texts
}

/** Kinds of violations by the keyword of the validator. Other keywords are `other`. */
const KINDS: Readonly<Record<string, ViolationKind>> = {
  type: 'type',
  enum: 'enum',
  const: 'enum',
  pattern: 'pattern',
  format: 'format',
  dependentRequired: 'missing',
};

function expectedOf(keyword: string, params: Readonly<Record<string, unknown>>, message: string): string {
  if (keyword === 'type') return `a value of type ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'enum') return `one of ${JSON.stringify(params['allowedValues'])}`;
  if (keyword === 'const') return JSON.stringify(params['allowedValue']);
  if (keyword === 'pattern' && isSlowPattern(params['pattern'])) {
    return `a value that matches pattern ${JSON.stringify(params['pattern'])}, which takes too long on some values`;
  }
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

/** Decodes a step of a JSON pointer (RFC 6901). */
function pathStep(step: string): string | number {
  const text = step.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}
