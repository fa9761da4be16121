import { isObject } from '../../validate-options.ts';
import { closest } from '../../suggest.ts';
import { formatPath } from '../json/json-path.ts';
import { shownValue, type Problem } from '../problem.ts';
import { MESSAGE_TYPES, isMessageType, type JsonValue } from '../types.ts';
import type { MessageField } from './fields.ts';
import type { MessageShape } from './shape.ts';

/** Whether a value is an object for a field of a message. A Date is not, because its JSON is a string. */
export function isFieldObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof Date);
}

/** The problem of a message that lacks a required field; undefined if it has all of them. */
export function missingProblem(
  shape: MessageShape,
  fields: Readonly<Record<string, JsonValue>>,
): Problem | undefined {
  const { type, always, either } = shape;
  const missing = always.find(({ name }) => fields[name] === undefined);
  if (missing !== undefined) return requiredProblem(missing, renameHint(shape, [missing], fields));
  if (either.length === 0 || either.some(({ name }) => fields[name] !== undefined)) return undefined;
  return (
    misspelledIdProblem(shape, fields) ?? { ...eitherProblem(either), hint: `say whom the ${type} is about` }
  );
}

/** The problem of a misspelled id. A message with a misspelled id is rejected instead of getting a generated id. */
export function misspelledIdProblem(
  shape: MessageShape,
  fields: Readonly<Record<string, JsonValue>>,
): Problem | undefined {
  const { either } = shape;
  const hint = renameHint(shape, either, fields);
  return hint === undefined ? undefined : { ...eitherProblem(either), hint };
}

function eitherProblem(either: readonly MessageField[]): Problem {
  const names = either.map(({ name }) => `\`${name}\``).join(' or ');
  return { path: either[0]?.name ?? '', sentence: `Expected ${names}`, got: 'neither' };
}

function renameHint(
  { bySpelling }: MessageShape,
  missing: readonly MessageField[],
  fields: Readonly<Record<string, JsonValue>>,
): string | undefined {
  for (const { name } of missing) {
    const key = misspellingOf(name, fields, bySpelling);
    if (key !== undefined) return `rename \`${formatPath([key])}\` to \`${name}\``;
  }
  return undefined;
}

export function typeProblem(type: unknown, fields: Readonly<Record<string, unknown>>): Problem {
  const meant = typeof type === 'string' ? closest(type, MESSAGE_TYPES) : undefined;
  const key = type === undefined ? (misspellingOf('type', fields) ?? typeUnderOtherName(fields)) : undefined;
  const hint =
    key !== undefined
      ? `rename \`${formatPath([key])}\` to \`type\``
      : meant === undefined
        ? 'give it as in "type": "track"'
        : `did you mean "${meant}"?`;
  return { path: 'type', sentence: `Expected \`type\` to be ${TYPES}`, got: shownValue(type), hint };
}

/** The key of a field, such as `action`, whose value is a message type. */
function typeUnderOtherName(fields: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(fields).find((key) => isMessageType(fields[key]));
}

const TYPES = `${MESSAGE_TYPES.slice(0, -1).join(', ')} or ${MESSAGE_TYPES.at(-1)}`;

/** The problem of a field that the type does not have. Only `--strict` rejects such fields. */
export function unknownProblem({ type, bySpelling }: MessageShape, name: string): Problem {
  const known = [...bySpelling.keys()];
  const meant =
    closest(name, known) ?? known.find((each) => misspellingOf(each, { [name]: '' }) !== undefined);
  return {
    path: formatPath([name]),
    sentence: `Expected only fields of ${type} messages`,
    got: `\`${formatPath([name])}\``,
    hint: meant === undefined ? 'leave it out, or do not use strict' : `did you mean \`${meant}\`?`,
  };
}

/** The problem of a field that the input has under both its names, with different values. */
export function spellingsProblem(
  { name, wireName = name }: MessageField,
  values: readonly unknown[],
): Problem {
  return {
    path: name,
    sentence: `Expected \`${name}\` and \`${wireName}\`, which are two spellings of one id, to be equal`,
    got: values.map(shownValue).join(' and '),
    hint: 'give one of them',
  };
}

function requiredProblem({ name, wireName, kind, about }: MessageField, rename: string | undefined): Problem {
  const spelling = wireName === undefined ? `\`${name}\`` : `\`${name}\` (or \`${wireName}\`)`;
  const what = kind === 'name' || kind === 'id' ? ' to be a non-empty string' : '';
  const hint = rename ?? `add it: ${about.charAt(0).toLowerCase()}${about.slice(1).replace(/\.$/, '')}`;
  return { path: name, sentence: `Expected ${spelling}${what}`, got: 'nothing', hint };
}

/** Names of a field in other APIs, in lower case and without separators. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  type: ['messagetype', 'calltype', 'kind'],
  event: ['eventname', 'eventtype', 'name', 'action'],
  userId: ['uid', 'user', 'distinctid', 'externalid'],
  anonymousId: ['anonid', 'anonymous', 'visitorid'],
  groupId: ['group', 'accountid', 'companyid', 'organizationid'],
  previousId: ['previd', 'oldid', 'aliasid', 'oldusrid'],
  name: ['screenname', 'screen', 'title'],
};

/**
 * Finds the key that was probably meant as the missing field `name`: the name in another case, with other separators, two
 * edits away, or as another API calls it. Ignores the `known` keys, which have their own meaning.
 */
function misspellingOf(
  name: string,
  given: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string> | ReadonlyMap<string, unknown> = new Set<string>(),
): string | undefined {
  const keys = Object.keys(given).filter((key) => isText(given[key]) && !known.has(key));
  const bare = bareKey(name);
  return (
    keys.find((key) => bareKey(key) === bare) ??
    keys.find((key) => closest(key, [name]) !== undefined) ??
    keys.find((key) => OTHER_NAMES[name]?.includes(bareKey(key)) === true)
  );
}

/** Whether a value can be a required field: a string, or a number, because other libraries use numeric ids. */
function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function bareKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
