import { isObject } from '../../kind-of.ts';
import type { MessageField } from './fields.ts';
import { formatPath } from '../json/json-path.ts';
import { type Problem, shownValue } from '../problem.ts';
import type { Shape } from './shape.ts';
import { closest } from '../../suggest.ts';
import { type JsonValue, MESSAGE_TYPES } from '../types.ts';

/** An object for a message's field. A Date is none: its JSON is a string. */
export function isFieldObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof Date);
}

/** What is missing from a message that has these fields. */
export function missingProblem(
  { type, always, either }: Shape,
  fields: Readonly<Record<string, JsonValue>>,
): Problem | undefined {
  const missing = always.find(({ name }) => fields[name] === undefined);
  if (missing !== undefined) return requiredProblem(missing);
  if (either.length === 0 || either.some(({ name }) => fields[name] !== undefined)) return undefined;
  const names = either.map(({ name }) => `\`${name}\``).join(' or ');
  return {
    path: either[0]?.name ?? '',
    sentence: `expected ${names}`,
    got: 'neither',
    hint: `say whom the ${type} is about`,
  };
}

export function typeProblem(type: unknown): Problem {
  const meant = typeof type === 'string' ? closest(type, MESSAGE_TYPES) : undefined;
  const hint = meant === undefined ? 'give it as in "type": "track"' : `did you mean "${meant}"?`;
  return { path: 'type', sentence: `expected \`type\` to be ${TYPES}`, got: shownValue(type), hint };
}

const TYPES = `${MESSAGE_TYPES.slice(0, -1).join(', ')} or ${MESSAGE_TYPES.at(-1)}`;

/** A field that the type does not know: rejected by `--strict` only. */
export function unknownProblem({ type, bySpelling }: Shape, name: string): Problem {
  const meant = closest(name, bySpelling.keys());
  return {
    path: formatPath([name]),
    sentence: `expected only fields of ${type} messages`,
    got: `\`${formatPath([name])}\``,
    hint: meant === undefined ? 'leave it out, or do not ask for strict' : `did you mean \`${meant}\`?`,
  };
}

/** Both spellings of one field, with different values. */
export function spellingsProblem(
  { name, wireName = name }: MessageField,
  values: readonly unknown[],
): Problem {
  return {
    path: name,
    sentence: `expected \`${name}\` and \`${wireName}\`, which are two spellings of one id, to be equal`,
    got: values.map(shownValue).join(' and '),
    hint: 'give one of them',
  };
}

function requiredProblem({ name, wireName, kind, about }: MessageField): Problem {
  const spelling = wireName === undefined ? `\`${name}\`` : `\`${name}\` (or \`${wireName}\`)`;
  const what = kind === 'name' ? ' to be a non-empty string' : '';
  const hint = `add it: ${about.charAt(0).toLowerCase()}${about.slice(1).replace(/\.$/, '')}`;
  return { path: name, sentence: `expected ${spelling}${what}`, got: 'nothing', hint };
}
