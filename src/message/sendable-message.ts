import { encodeBody } from './outgoing-message.ts';
import { isJsonObject, type JsonValue, type Message } from './types.ts';

export interface SendableMessage {
  readonly message: Message;
  /** The bytes to send, where they are there already: with `--exact`, and of an entry that is its body as it stands. */
  readonly exactBody?: Uint8Array | undefined;
}

/** The body to send, for a person to read. */
export function sentBodyText({ message, exactBody }: SendableMessage): string {
  return exactBody === undefined ? encodeBody(message) : Buffer.from(exactBody).toString();
}

/**
 * A message for code that reads fields only. `--exact` sends any webhook: type, title and ids are taken where they have the
 * shape of a Segment message's; `integrations` is not, because an exact body is never filtered.
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
  return known as unknown as Message; // no valid message, and never encoded
}

const TEXTS = ['event', 'name', 'userId', 'anonymousId', 'previousId', 'groupId', 'messageId'];

/** A text, or a number, which others use for ids. */
function idText(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
