import { ValidationError } from '../errors.ts';
import { isObject, kindOf } from '../validate-options.ts';
import { printable } from '../redact.ts';
import type { DeletionRequest } from './request.ts';

/** Reads a request body, `{"userIds":[…],"sources"?:[…]}`. Throws ValidationError with the path of the invalid field. */
export function readDeletionRequest(input: unknown): DeletionRequest {
  if (!isObject(input)) throw problem('', 'a deletion request to be a JSON object', input);
  assertKnownFields(input);
  const userIds = readNames(input['userIds'], 'userIds');
  const { sources } = input;
  return sources === undefined || sources === null
    ? { userIds }
    : { userIds, sources: readNames(sources, 'sources') };
}

/** The fields that the body of a deletion request may have. `writeKey` identifies the caller and is not stored. */
const FIELDS: readonly string[] = ['userIds', 'sources', 'writeKey'];

/**
 * Rejects unknown fields, because a misspelled `sources` would delete the users at every source instead of some, and a
 * deletion cannot be undone.
 */
function assertKnownFields(input: object): void {
  const unknown = Object.keys(input).find((key) => !FIELDS.includes(key));
  if (unknown === undefined) return;
  throw new ValidationError(`Expected only \`userIds\` and \`sources\`, got \`${printable(unknown, 60)}\``, {
    path: unknown,
    hint: HINT,
  });
}

/** Reads a list of non-empty strings. Drops duplicates, because deleting a user a second time has no effect. */
function readNames(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw problem(path, `\`${path}\` to be a list of at least one string`, value);
  }
  const names = value.map((name: unknown, index) => {
    if (typeof name === 'string' && name !== '') return name;
    throw problem(`${path}[${index}]`, `\`${path}[${index}]\` to be a non-empty string`, name);
  });
  return [...new Set(names)];
}

function problem(path: string, expected: string, value: unknown): ValidationError {
  const got = Array.isArray(value) && value.length === 0 ? 'an empty list' : kindOf(value);
  return new ValidationError(`Expected ${expected}, got ${got}`, {
    path,
    got,
    hint: HINT,
  });
}

const HINT = 'send {"userIds":["…"]}, and "sources":["…"] to select some of the sources';
