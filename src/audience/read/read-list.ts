import { ValidationError } from '../../errors.ts';
import { toPlain } from '../../message/plain.ts';
import type { JsonValue } from '../../message/types.ts';
import type { AudienceEntry } from '../entry.ts';
import type { MemberTarget } from './member-target.ts';

/** The members of an audience, or the values of a computed trait, from a program. */
export type MemberList =
  | { readonly userIds: AsyncIterable<string> | (Iterable<string> & object) }
  | { readonly values: AsyncIterable<AudienceEntry> | Iterable<AudienceEntry> };

/** Adds a list to the target. Throws InputError if an id is invalid, ValidationError if a value is not JSON. */
export async function readList(list: MemberList, target: MemberTarget): Promise<void> {
  if ('values' in list) {
    for await (const { userId, value } of list.values) target.add(userId, plainValue(value));
    return;
  }
  const { userIds } = list;
  // JavaScript callers can pass any value.
  if (typeof userIds === 'string') {
    throw target.problem(undefined, 'Expected user ids, got a text', 'for a single member: [userId]');
  }
  for await (const userId of userIds) target.add(userId, true);
}

/** Converts a value to JSON, because JavaScript callers can pass any value. */
function plainValue(given: unknown): JsonValue {
  const plain = toPlain(given, 'value');
  if (plain.ok) return plain.value;
  const { path, sentence, got } = plain.problem;
  throw new ValidationError(`${sentence}, got ${got}`, { path, got });
}
