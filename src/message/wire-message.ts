import { fieldProblem } from './build.ts';
import type { MessageField } from './fields/fields.ts';
import { shapeOf, type Shape } from './fields/shape.ts';
import { missingProblem } from './fields/validate.ts';
import { readTimestamp } from './timestamp.ts';
import { isMessageType, type JsonObject, type JsonValue, type Message } from './types.ts';

/**
 * The message of a body that is written as the body of that message would be: the same fields with the same values in the same
 * order (contract, Messages on the wire). Undefined of anything else, which `buildParsed` reads or rejects.
 */
export function wireMessageOf(
  body: JsonObject,
  { strict }: { readonly strict: boolean },
): Message | undefined {
  const { type } = body;
  if (!isMessageType(type)) return undefined;
  const shape = shapeOf(type);
  let previous = -1;
  for (const name in body) {
    const field = shape.bySpelling.get(name);
    if (field === undefined && strict) return undefined;
    const place = placeOf(name, field, shape);
    if (place < previous || !isAsWritten(name, field, body[name])) return undefined;
    previous = place;
  }
  for (const { name } of shape.written) if (body[name] === undefined) return undefined;
  const message = withNames(body, shape);
  // All that it has is right and in its place, so that only something may be missing.
  return missingProblem(shape, message) === undefined ? (message as unknown as Message) : undefined;
}

/** The rank of a field in the order of the body. -1: it is in none, or under another name. */
function placeOf(name: string, field: MessageField | undefined, { row }: Shape): number {
  if (field === undefined) return row.length;
  if (field.wireName !== undefined && field.wireName !== name) return -1;
  switch (field.place) {
    case 'row':
      return row.indexOf(field);
    case 'rest':
      return row.length;
    case 'last':
      return row.length + 1;
    case 'properties':
    case 'unsent':
      return -1;
    default:
      return field.place satisfies never;
  }
}

/** With the names that a message has for what a body calls otherwise. */
function withNames(body: JsonObject, { type, row }: Shape): JsonObject {
  if (type !== 'alias') return body;
  const named = { ...body };
  for (const { name, wireName = name } of row) {
    const value = body[wireName];
    if (value !== undefined) named[name] = value;
  }
  return named;
}

function isAsWritten(name: string, field: MessageField | undefined, value: JsonValue | undefined): boolean {
  if (field === undefined) return true;
  if (field.kind !== 'timestamp') return fieldProblem(field.kind, name, value) === undefined;
  const reading = readTimestamp(value);
  return reading.ok && reading.iso === value;
}
