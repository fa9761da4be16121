import { ValidationError } from '../../errors.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { readJson } from '../../message/json/read-json.ts';
import { MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import { isJsonObject, isJsonArray, type JsonObject, type JsonValue } from '../../message/types.ts';
import { sizeRejection } from '../../service/ingest/sort-messages.ts';
import { jsonRejection } from '../../service/request/rejection.ts';
import { shownWriteKey, withoutWriteKeys } from '../../redact.ts';
import type { ReceivedRequest } from '../received-request.ts';
import { keyedMessage, unpackedBody, wholeMessage, type ReceivedMessage } from './tracking-call.ts';

/** The messages of a request: those of a call, the one of a webhook, the events of a signed list; none where it has no JSON. */
export function messagesOf(request: ReceivedRequest): readonly ReceivedMessage[] {
  return readingOf(request).messages;
}

/** Why the content of a POST is not known, or not all of it. Undefined: it is, or its sender sends it again. */
export function unreadReason(request: ReceivedRequest): string | undefined {
  if (request.method !== 'POST') return undefined;
  const { messages, reason } = readingOf(request);
  if (!isAccepted(request) && request.call?.rejection === undefined) return undefined;
  if (reason !== undefined) return withoutWriteKeys(reason);
  return messages.length === 0 ? 'it has no message' : undefined;
}

/** Whether it got a 2xx. After another response, or none, its sender sends it again: it cannot know that it came. */
export function isAccepted({ status }: Pick<ReceivedRequest, 'status'>): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

interface RequestReading {
  readonly messages: readonly ReceivedMessage[];
  /** Why they are not all that the body says. */
  readonly reason?: string | undefined;
}

function readingOf(request: ReceivedRequest): RequestReading {
  const { call, method, body } = request;
  if (call !== undefined) return { messages: call.messages, reason: call.rejection?.message };
  if (method !== 'POST') return { messages: [] };
  const reading = readings.get(body) ?? readWebhook(request);
  readings.set(body, reading);
  return reading;
}

/** Several readers ask about each request: a line, an expectation, the inbox. */
const readings = new WeakMap<Uint8Array, RequestReading>();

function readWebhook(request: ReceivedRequest): RequestReading {
  const unpacked = unpackedBody(request);
  if ('rejection' in unpacked) return { messages: [], reason: unpacked.rejection.message };
  const { body } = unpacked;
  const { value = [], reason } = readLossy(body);
  const values = isJsonArray(value) ? value : [value];
  if (!values.every(isJsonObject)) return { messages: [], reason: 'expected an object or a list of objects' };
  const messages = values.map((each, index): ReceivedMessage => {
    const rejection = body.length > MAX_MESSAGE_BYTES ? sizeRejection(each) : undefined;
    return { index, ...keyedMessage(each), ...(rejection !== undefined && { rejection }) };
  });
  return { messages, reason };
}

/** A number that JavaScript cannot hold does not hide the message that has it. */
function readLossy(body: Buffer): { readonly value?: JsonValue; readonly reason?: string } {
  try {
    return { value: readJson(body) };
  } catch (error) {
    const { message: reason } = jsonRejection(error);
    // Such an error says that it is JSON, but for what would be lost.
    return error instanceof ValidationError
      ? { value: parseJsonOrUndefined(body) ?? null, reason }
      : { reason };
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
  /** Its last characters. */
  readonly writeKey?: string;
}

/** The facts of a message, as far as they are strings. */
export function messageFacts(message: ReceivedMessage): MessageFacts {
  const value = wholeMessage(message, shownWriteKey);
  if (!isJsonObject(value)) return {};
  const { type, event, anonymousId, messageId, timestamp, writeKey } = value;
  const userId = value['userId'] || value['User ID'] || undefined; // an empty one is none
  const facts: Record<string, string> = {};
  const known = { type, event, userId, anonymousId, messageId, timestamp, writeKey };
  for (const [name, fact] of Object.entries(known)) {
    if (typeof fact === 'string') facts[name] = fact;
  }
  return facts;
}

/** What a message is: `track "Signup" by u1`. Unescaped. */
export function messageLabel(message: ReceivedMessage): string {
  const { type = 'no type', event, userId, anonymousId } = messageFacts(message);
  const who = userId ?? anonymousId;
  return [type, event && JSON.stringify(event), who && `by ${who}`].filter(Boolean).join(' ');
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
