import type { BodyDifference } from '../../message/content-facts.ts';
import { isObject } from '../../validate-options.ts';

export type ComparedFields = Readonly<Record<string, unknown>>;

/**
 * A difference between an accepted message and a failed one: the field `name`, or the field `inner` of the object in
 * it. `accepted` and `failed` are its values, which are undefined for a missing field.
 */
interface FieldChange {
  readonly name: string;
  readonly inner?: string;
  readonly accepted: unknown;
  readonly failed: unknown;
}

/** The fields that make a message fail. `isIn` returns whether another message has enough of them to fail, too. */
export interface DecisiveFields {
  readonly difference: BodyDifference;
  readonly isIn: (fields: ComparedFields) => boolean;
}

/** Maximum number of differences to examine, because each costs one or two requests. */
const MOST_CHANGES = 16;

/**
 * Finds the fields that make a message fail. Changes one field at a time of the accepted message to its value in the
 * failed one. If none of these changes makes the message fail, makes all changes and undoes those that are not needed
 * for the failure. Sends each message twice. Undefined if the two responses differ, if there are no differences or more
 * than MOST_CHANGES, if the accepted message now fails, too, or if all changes together do not make it fail.
 */
export async function decisiveFields(
  failed: ComparedFields,
  accepted: ComparedFields,
  failsNow: (fields: ComparedFields) => Promise<boolean>,
): Promise<DecisiveFields | undefined> {
  let isSteady = true;
  const fails = async (fields: ComparedFields): Promise<boolean> => {
    const first = isSteady && (await failsNow(fields));
    isSteady &&= (await failsNow(fields)) === first;
    return first && isSteady;
  };
  const changes = changesOf(accepted, failed);
  if (changes.length === 0 || changes.length > MOST_CHANGES || (await fails(accepted))) return undefined;
  if (!(await fails(withChanges(accepted, changes)))) return undefined;
  const alone: FieldChange[] = [];
  for (const change of changes) if (await fails(withChanges(accepted, [change]))) alone.push(change);
  if (!isSteady) return undefined;
  if (alone.length > 0) {
    const what = alone.length === 1 ? 'this change alone' : 'each of these changes alone';
    const difference = { failed: phrase(alone, ' or '), passed: `${what} makes an accepted message fail` };
    return { difference, isIn: (fields) => alone.some((change) => hasChange(fields, change)) };
  }
  let needed = changes;
  for (const change of changes) {
    const fewer = needed.filter((each) => each !== change);
    if (await fails(withChanges(accepted, fewer))) needed = fewer;
  }
  if (!isSteady) return undefined;
  const passed = 'an accepted message fails with all of this, not with only a part of it';
  const isIn = (fields: ComparedFields) => needed.every((change) => hasChange(fields, change));
  return { difference: { failed: phrase(needed, ' and '), passed }, isIn };
}

function hasChange(fields: ComparedFields, { name, inner, failed }: FieldChange): boolean {
  const value = fields[name];
  const found = inner === undefined ? value : isObject(value) ? value[inner] : undefined;
  return JSON.stringify(found) === JSON.stringify(failed);
}

/** Fields that are not compared: each message has its own id, and the checks send a message of each type. */
const UNCHANGED: ReadonlySet<string> = new Set(['messageId', 'type']);

/** The differences between two messages, by field. Compares the fields inside a field if both values are objects. */
export function changesOf(accepted: ComparedFields, failed: ComparedFields): readonly FieldChange[] {
  const differing = (one: ComparedFields, other: ComparedFields): string[] =>
    [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
      (name) => !UNCHANGED.has(name) && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
    );
  return differing(accepted, failed).flatMap((name): FieldChange[] => {
    const [before, after] = [accepted[name], failed[name]];
    if (!isObject(before) || !isObject(after)) return [{ name, accepted: before, failed: after }];
    return differing(before, after).map((inner) => {
      return { name, inner, accepted: before[inner], failed: after[inner] };
    });
  });
}

function withChanges(fields: ComparedFields, changes: readonly FieldChange[]): ComparedFields {
  const changed: Record<string, unknown> = { ...fields };
  for (const { name, inner, failed } of changes) {
    const parent = changed[name];
    changed[name] = inner !== undefined && isObject(parent) ? { ...parent, [inner]: failed } : failed;
  }
  return changed;
}

function phrase(changes: readonly FieldChange[], conjunction: string): string {
  const texts = changes.map(({ name, inner, accepted, failed }) => {
    const path = `\`${inner === undefined ? name : `${name}.${inner}`}\``;
    const value = JSON.stringify(failed);
    if (failed === undefined) return `no ${path}`;
    return accepted === undefined || value.length > 40 ? `such a ${path}` : `the ${path} ${value}`;
  });
  return `have ${texts.join(conjunction)}`;
}
