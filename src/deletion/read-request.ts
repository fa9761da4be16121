import { ValidationError } from '../errors.ts';
import { isObject, kindOf } from '../validate-options.ts';
import { printable } from '../redact.ts';
import type { DeletionRequest } from './request.ts';

/** `{"userIds":[…],"sources"?:[…]}`. Throws ValidationError with the path. */
export function readDeletionRequest(input: unknown): DeletionRequest {
  if (!isObject(input)) throw problem('', 'a deletion request to be a JSON object', input);
  assertKnownFields(input);
  const userIds = readNames(input['userIds'], 'userIds');
  const { sources } = input;
  return sources === undefined || sources === null
    ? { userIds }
    : { userIds, sources: readNames(sources, 'sources') };
}

/** `writeKey` says who asks. */
const FIELDS: readonly string[] = ['userIds', 'sources', 'writeKey'];

/** `source` for `sources` would otherwise reach every source instead of one, and what is deleted stays so. */
function assertKnownFields(input: object): void {
  const unknown = Object.keys(input).find((key) => !FIELDS.includes(key));
  if (unknown === undefined) return;
  throw new ValidationError(`Expected only \`userIds\` and \`sources\`, got \`${printable(unknown, 60)}\``, {
    path: unknown,
    hint: HINT,
  });
}

/** Each once: asking twice deletes no more than once. */
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

const HINT = 'send {"userIds":["…"]}, and "sources":["…"] to name some of the sources';
