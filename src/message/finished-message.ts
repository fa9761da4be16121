import { fieldProblem } from './build.ts';
import type { MessageField } from './fields/fields.ts';
import { shapeOf, type MessageShape } from './fields/shape.ts';
import { missingProblem } from './fields/validate.ts';
import { readTimestamp } from './timestamp.ts';
import { isMessageType, type JsonObject, type JsonValue, type Message } from './types.ts';

/** An input that already is a normalized message. */
export interface FinishedMessage {
  readonly message: Message;
  /**
   * Whether the input already is the request body: has all fields of the body, in its order (contract, Messages on the
   * wire).
   */
  readonly isBody: boolean;
}

/**
 * Recognizes parsed JSON that already is a normalized message: `buildParsed` would change none of its fields. Undefined if a
 * field would change, is invalid or is missing; `buildParsed` then reads or rejects the input.
 */
export function finishedMessageOf(
  input: JsonObject,
  { strict }: { readonly strict: boolean },
): FinishedMessage | undefined {
  const { type } = input;
  if (!isMessageType(type)) return undefined;
  const shape = shapeOf(type);
  let isBody = true;
  let previous = 0;
  for (const name in input) {
    const field = shape.bySpelling.get(name);
    if (field === undefined ? strict : !isFinished(field, name, input[name])) return undefined;
    const place = placeOf(field, shape);
    if (place < previous) isBody = false;
    previous = place;
  }
  for (const { name, kind } of shape.written) {
    if (input[name] !== undefined) continue;
    if (kind !== 'version') return undefined;
    isBody = false;
  }
  // Only a missing field can still be a problem, because the loop has validated the fields that are present.
  const message = withNames(input, shape);
  if (missingProblem(shape, message) !== undefined) return undefined;
  return { message: message as unknown as Message, isBody }; // every field is valid, and none is missing
}

/** Whether `buildParsed` would keep a field as it is: not remove, move, rename or reformat it. */
function isFinished(field: MessageField, name: string, value: JsonValue | undefined): boolean {
  const { kind, place, wireName = name } = field;
  if (wireName !== name || place === 'properties' || (place === 'unsent' && kind === 'any')) return false;
  if (kind !== 'timestamp') return fieldProblem(kind, name, value) === undefined;
  const reading = readTimestamp(value);
  return reading.ok && reading.iso === value;
}

/** Rank of a field in the order of the body; -1 if bodies do not have the field. */
function placeOf(field: MessageField | undefined, { row }: MessageShape): number {
  if (field === undefined || field.place === 'rest') return row.length;
  if (field.place === 'row') return row.indexOf(field);
  return field.place === 'last' ? row.length + 1 : -1;
}

/**
 * Adds the fields of an alias under the names that they have in a Message, because their names in the body differ. Returns
 * other types unchanged.
 */
function withNames(input: JsonObject, { type, row }: MessageShape): JsonObject {
  if (type !== 'alias') return input;
  const named = { ...input };
  for (const { name, wireName = name } of row) {
    const value = input[wireName];
    if (value !== undefined) named[name] = value;
  }
  return named;
}
