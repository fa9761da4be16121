import { isObject } from '../../validate-options.ts';
import { closest } from '../../suggest.ts';
import { formatPath } from '../json/json-path.ts';
import { shownValue, type Problem } from '../problem.ts';
import { MESSAGE_TYPES, isMessageType, type JsonValue } from '../types.ts';
import type { MessageField } from './fields.ts';
import type { MessageShape } from './shape.ts';

/** An object for a message's field. A Date is none: its JSON is a string. */
export function isFieldObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof Date);
}

/** What is missing from a message that has these fields. */
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

/** An id that is there in another spelling: a message that has one is not given an id that was made up. */
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

/** `action`, `name` and others mean the type where they have its value. */
function typeUnderOtherName(fields: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(fields).find((key) => isMessageType(fields[key]));
}

const TYPES = `${MESSAGE_TYPES.slice(0, -1).join(', ')} or ${MESSAGE_TYPES.at(-1)}`;

/** A field that the type does not know: rejected by `--strict` only. */
export function unknownProblem({ type, bySpelling }: MessageShape, name: string): Problem {
  const known = [...bySpelling.keys()];
  const meant =
    closest(name, known) ?? known.find((each) => misspellingOf(each, { [name]: '' }) !== undefined);
  return {
    path: formatPath([name]),
    sentence: `Expected only fields of ${type} messages`,
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

/** Names that other APIs have for a field, in lower case and without separators. */
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
 * Finds the key that was probably meant for a field that is missing: its name in another case, with other separators, two edits
 * away, or as another API has it. `known` are the keys that have a meaning of their own.
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

/** What is required is a text; other libraries have numbers for ids. */
function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function bareKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
