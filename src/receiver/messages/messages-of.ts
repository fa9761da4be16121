import { InputError, ValidationError } from '../../errors.ts';
import { readJson } from '../../message/json/read-json.ts';
import { isJsonObject, isJsonArray, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { ReceivedRequest } from '../received-request.ts';
import { unpackedBody, type ReceivedMessage } from './tracking-call.ts';

/** The messages of a request: those of a call, the one of a webhook, the events of a signed list; none where it has no JSON. */
export function messagesOf(request: ReceivedRequest): readonly ReceivedMessage[] {
  if (request.call !== undefined) return request.call.messages;
  if (request.method !== 'POST') return [];
  const known = read.get(request.body);
  if (known !== undefined) return known;
  const messages = webhookMessages(request);
  read.set(request.body, messages);
  return messages;
}

/** Several readers ask about each request: a line, an expectation, the inbox. */
const read = new WeakMap<Uint8Array, readonly ReceivedMessage[]>();

function webhookMessages(request: ReceivedRequest): readonly ReceivedMessage[] {
  const unpacked = unpackedBody(request);
  const value = 'rejection' in unpacked ? undefined : jsonValue(unpacked.body);
  if (isJsonObject(value)) return [{ index: 0, value }];
  if (!isJsonArray(value)) return [];
  return value.every(isJsonObject) ? value.map((item, index) => ({ index, value: item })) : [];
}

/** A number that JavaScript cannot hold does not hide the message that has it. */
function jsonValue(body: Buffer): JsonValue | undefined {
  try {
    return readJson(body);
  } catch (error) {
    if (error instanceof ValidationError) return JSON.parse(body.toString()) as JsonValue; // it is JSON, but for what would be lost
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** The fields of a message that a line about it shows. */
export interface MessageFacts {
  readonly type?: string;
  readonly event?: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly messageId?: string;
  readonly timestamp?: string;
}

/** The facts of a message, as far as they are strings. */
export function messageFacts({ value }: ReceivedMessage): MessageFacts {
  if (!isJsonObject(value)) return {};
  const { type, event, anonymousId, messageId, timestamp } = value;
  const userId = value['userId'] || value['User ID'] || undefined; // an empty one is none
  const facts: Record<string, string> = {};
  for (const [name, fact] of Object.entries({ type, event, userId, anonymousId, messageId, timestamp })) {
    if (typeof fact === 'string') facts[name] = fact;
  }
  return facts;
}

/** The client library of a request, such as `@segment/analytics-node 3.1.0`. */
export function libraryOf(messages: readonly ReceivedMessage[]): string | undefined {
  for (const { value } of messages) {
    const { name, version } = memberOf(memberOf(value, 'context'), 'library');
    if (typeof name === 'string') return typeof version === 'string' ? `${name} ${version}` : name;
  }
  return undefined;
}

function memberOf(value: JsonValue, name: string): JsonObject {
  const member = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(member) ? member : {};
}
