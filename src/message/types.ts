import { isObject } from '../validate-options.ts';

export const MESSAGE_TYPES = ['page', 'screen', 'identify', 'track', 'alias', 'group', 'delete'] as const;

export type MessageType = (typeof MESSAGE_TYPES)[number];

export function isMessageType(value: unknown): value is MessageType {
  return MESSAGE_TYPES.some((type) => type === value);
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Narrows to a readonly array, which Array.isArray does not. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value);
}

/** Maps a destination's name to whether it gets the message; an object (options of the destination) counts as true. */
export interface Integrations extends JsonObject {
  readonly [destination: string]: boolean | JsonObject;
}

/**
 * A validated and normalized message: `timestamp` is present and ISO 8601 UTC with milliseconds, an alias has `userId`
 * (the new id) and `previousId`, objects that the body of its type always has are present, and a page's name, category
 * and traits are among its properties. Other fields keep their order. `version` and fields that are never sent are
 * removed, except `integrations`, which selects the destinations. Made by `buildMessage`.
 */
export type Message = JsonObject & NamedFields;

/**
 * Declared separately from Message: with `exactOptionalPropertyTypes`, optional fields do not compile beside an index
 * signature.
 */
interface NamedFields {
  readonly type: MessageType;
  readonly timestamp: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly previousId?: string;
  readonly groupId?: string;
  readonly event?: string;
  /** The id that the caller passed. Undefined if the caller passed none. */
  readonly messageId?: string;
  readonly properties?: JsonObject;
  readonly traits?: JsonObject;
  readonly context?: JsonObject;
  readonly integrations?: Integrations;
}
