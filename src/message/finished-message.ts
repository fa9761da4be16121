import { fieldProblem } from './build.ts';
import type { MessageField } from './fields/fields.ts';
import { shapeOf, type MessageShape } from './fields/shape.ts';
import { missingProblem } from './fields/validate.ts';
import { put } from './plain.ts';
import { readTimestamp } from './timestamp.ts';
import { isMessageType, type JsonObject, type JsonValue, type Message } from './types.ts';

/**
 * Recognizes parsed JSON that already is a normalized message: `buildParsed` would change none of its fields. Undefined if a
 * field would change, is invalid or is missing; `buildParsed` then reads or rejects the input.
 */
export function finishedMessageOf(
  input: JsonObject,
  { strict }: { readonly strict: boolean },
): Message | undefined {
  const { type } = input;
  if (!isMessageType(type)) return undefined;
  const shape = shapeOf(type);
  for (const name in input) {
    const field = shape.bySpelling.get(name);
    if (field === undefined ? strict : !isFinished(field, name, input[name])) return undefined;
  }
  for (const { name, kind } of shape.written) {
    if (input[name] === undefined && kind !== 'version') return undefined;
  }
  // Only a missing field can still be a problem, because the loop has validated the fields that are present.
  const message = withNames(input, shape);
  if (missingProblem(shape, message) !== undefined) return undefined;
  return message as unknown as Message; // every field is valid, and none is missing
}

/** Whether `buildParsed` would keep a field as it is: not remove, move, rename or reformat it. */
function isFinished(field: MessageField, name: string, value: JsonValue | undefined): boolean {
  const { kind, place, wireName = name } = field;
  if (wireName !== name || place === 'properties' || (place === 'unsent' && kind === 'any')) return false;
  if (kind !== 'timestamp') return fieldProblem(kind, name, value) === undefined;
  const reading = readTimestamp(value);
  return reading.ok && reading.iso === value;
}

/** Renames the fields of an alias, whose names in a Message and in the body differ. Returns other types unchanged. */
function withNames(input: JsonObject, { type, bySpelling }: MessageShape): JsonObject {
  if (type !== 'alias') return input;
  const named: Record<string, JsonValue> = {};
  for (const name in input) put(named, bySpelling.get(name)?.name ?? name, input[name] ?? null);
  return named;
}
