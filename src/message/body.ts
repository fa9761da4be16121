import { MESSAGE_VERSION } from './fields/fields.ts';
import { put } from './put.ts';
import { shapeOf } from './fields/shape.ts';
import type { JsonObject, JsonValue, Message } from './types.ts';

/**
 * What a webhook is sent: the fields of the type's row in their order, then the other fields of the message in its own
 * order, then `context` (contract, Messages on the wire).
 */
export function toBody(message: Message): JsonObject {
  const shape = shapeOf(message.type);
  const body: Record<string, JsonValue> = {};
  for (const { name, wireName = name } of shape.row) {
    const value = name === 'version' ? MESSAGE_VERSION : message[name];
    if (value !== undefined) body[wireName] = value;
  }
  for (const [name, value] of Object.entries(message)) {
    if (!shape.placed.has(name)) put(body, name, value);
  }
  if (message.context !== undefined) body['context'] = message.context;
  return body;
}

/** The text of the body. Its UTF-8 bytes are what is signed and sent; parsing and writing it again gives the same. */
export function encodeBody(message: Message): string {
  return JSON.stringify(toBody(message));
}
