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

/** Array.isArray narrows no readonly array. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value);
}

/** Destination name to whether it gets the message; an object (options for it) counts as true. */
export interface Integrations extends JsonObject {
  readonly [destination: string]: boolean | JsonObject;
}

/**
 * A message that has been checked and normalized: `timestamp` is present and ISO 8601 UTC with milliseconds, an alias
 * is spelled `userId` (the new id) and `previousId`, objects that its type names are present, a page's name, category
 * and traits are among its properties. Other fields of the input follow in their own order; `version` and what is never
 * sent are gone, except `integrations`, which says where the message goes. Made by `buildMessage` only.
 */
export type Message = JsonObject & NamedFields;

/** Separate from Message: together with an index signature optional fields compile under `exactOptionalPropertyTypes` only. */
interface NamedFields {
  readonly type: MessageType;
  readonly timestamp: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly previousId?: string;
  readonly groupId?: string;
  readonly event?: string;
  /** Only if the caller gave one. */
  readonly messageId?: string;
  readonly properties?: JsonObject;
  readonly traits?: JsonObject;
  readonly context?: JsonObject;
  readonly integrations?: Integrations;
}
