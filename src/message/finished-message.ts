import { fieldProblem } from './build.ts';
import type { MessageField } from './fields/fields.ts';
import { shapeOf, type MessageShape } from './fields/shape.ts';
import { missingProblem } from './fields/validate.ts';
import { readTimestamp } from './timestamp.ts';
import { isMessageType, type JsonObject, type JsonValue, type Message } from './types.ts';

/** A message that need not be built. */
export interface FinishedMessage {
  readonly message: Message;
  /** The input has what the body of the message has, in the same order (contract, Messages on the wire). */
  readonly isBody: boolean;
}

/**
 * The message that parsed JSON is already: every field as `buildParsed` would have it, in any order. Undefined of anything else, which
 * `buildParsed` reads or rejects.
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
  const message = withNames(input, shape);
  // All that it has is right, so that only something may be missing.
  if (missingProblem(shape, message) !== undefined) return undefined;
  return { message: message as unknown as Message, isBody }; // every field is right, and none is missing
}

/** Whether a field stays as it is: not removed, moved, renamed or written in another way. */
function isFinished(field: MessageField, name: string, value: JsonValue | undefined): boolean {
  const { kind, place, wireName = name } = field;
  if (wireName !== name || place === 'properties' || (place === 'unsent' && kind === 'any')) return false;
  if (kind !== 'timestamp') return fieldProblem(kind, name, value) === undefined;
  const reading = readTimestamp(value);
  return reading.ok && reading.iso === value;
}

/** The rank of a field in the order of the body; -1 of one that a body does not have. */
function placeOf(field: MessageField | undefined, { row }: MessageShape): number {
  if (field === undefined || field.place === 'rest') return row.length;
  if (field.place === 'row') return row.indexOf(field);
  return field.place === 'last' ? row.length + 1 : -1;
}

/** With the names that a message has for what a body calls otherwise. */
function withNames(input: JsonObject, { type, row }: MessageShape): JsonObject {
  if (type !== 'alias') return input;
  const named = { ...input };
  for (const { name, wireName = name } of row) {
    const value = input[wireName];
    if (value !== undefined) named[name] = value;
  }
  return named;
}
