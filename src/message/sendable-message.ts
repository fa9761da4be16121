import { encodeBody } from './outgoing-message.ts';
import { isJsonObject, type JsonValue, type Message } from './types.ts';

export interface SendableMessage {
  readonly message: Message;
  /** Bytes to send instead of encoding `message`. Set with `--exact`, and if the bytes of the input already are the body. */
  readonly exactBody?: Uint8Array | undefined;
}

/** The body to send, as text to display. */
export function sentBodyText({ message, exactBody }: SendableMessage): string {
  return exactBody === undefined ? encodeBody(message) : Buffer.from(exactBody).toString();
}

/**
 * Makes a message, only for reading its fields, from the JSON of any webhook that `--exact` sends. Keeps the type, title,
 * ids and properties that a Segment message could have; drops `integrations`, because exact bodies are never filtered by it.
 */
export function unbuiltMessage(given: JsonValue): Message {
  const value = isJsonObject(given) ? given : {};
  const { type, properties } = value;
  const known: Record<string, JsonValue> = { type: typeof type === 'string' ? type : 'unknown' };
  for (const name of TEXTS) {
    const text = idText(value[name]);
    if (text !== '') known[name] = text;
  }
  if (isJsonObject(properties)) known['properties'] = properties;
  return known as unknown as Message; // not a valid message, but never encoded
}

const TEXTS = ['event', 'name', 'userId', 'anonymousId', 'previousId', 'groupId', 'messageId'];

/** Returns a string or a number as text, because some senders use numeric ids. Empty for other values. */
function idText(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
