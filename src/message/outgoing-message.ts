import { MESSAGE_VERSION } from './fields/fields.ts';
import { shapeOf } from './fields/shape.ts';
import { put } from './plain.ts';
import type { TraceContext } from './trace-context.ts';
import type { Integrations, JsonObject, JsonValue, Message } from './types.ts';

/** A message as the client or the service hands it to the router. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly type: string;
  readonly integrations?: Integrations | undefined;
  /** The exact bytes of every attempt. */
  readonly body: Uint8Array;
  /** Deliveries of one order key reach a destination in the order in which they were added. */
  readonly orderKeys: readonly string[];
  /** A message of the same source and key that is still in the queue is not added again. @default every message is another one */
  readonly dedupeKey?: string | undefined;
  /** The id of its first delivery; further ones add their number to it. A queue adds no id twice. @default new ids */
  readonly deliveryId?: string | undefined;
  /** The trace that it came in, for destinations that pass it on. */
  readonly trace?: TraceContext | undefined;
}

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
  for (const name of Object.keys(message)) {
    const value = message[name];
    if (value !== undefined && !shape.placed.has(name)) put(body, name, value);
  }
  if (message.context !== undefined) body['context'] = message.context;
  return body;
}

/** The text of the body. Its UTF-8 bytes are what is signed and sent; parsing and writing it again gives the same. */
export function encodeBody(message: Message): string {
  return JSON.stringify(toBody(message));
}

/** Whether everything that was given, to build the message from, is sent with it as it is. */
export function isAllSent(given: Readonly<Record<string, unknown>>, message: Message): boolean {
  const { bySpelling } = shapeOf(message.type);
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined) continue;
    if (message[name] !== value || bySpelling.get(name)?.place === 'unsent') return false;
  }
  return true;
}

/** Whose order the message belongs to: its user id, else its anonymous id; an alias belongs to both its ids. */
export function orderKeysOf({ type, userId, anonymousId, previousId }: Message): readonly string[] {
  const key = userId ?? anonymousId;
  if (key === undefined) return [];
  const isTwo = type === 'alias' && previousId !== undefined && previousId !== key;
  return isTwo ? [previousId, key] : [key];
}

/**
 * Whether `integrations` lets a message go to a destination: all do by default, `All: false` turns off all but those
 * that are listed as true. Names are case-sensitive; an object counts as true.
 */
export function isEnabled(integrations: Integrations | undefined, destinationName: string): boolean {
  if (integrations === undefined) return true;
  const chosen = own(integrations, destinationName) ?? own(integrations, 'All') ?? true;
  return chosen !== false;
}

/** A destination may be called `constructor`. */
function own(integrations: Integrations, name: string): Integrations[string] | undefined {
  return Object.hasOwn(integrations, name) ? integrations[name] : undefined;
}
