import { ValidationError } from '../../errors.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { readJson } from '../../message/json/read-json.ts';
import { MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import { isJsonObject, isJsonArray, type JsonObject, type JsonValue } from '../../message/types.ts';
import { sizeRejection } from '../../service/ingest/sort-messages.ts';
import { jsonRejection } from '../../service/request/rejection.ts';
import { shownWriteKey, withoutWriteKeys } from '../../redact.ts';
import type { ConnectionRejection } from '../options.ts';
import type { ReceivedRequest } from '../received-request.ts';
import { keyedMessage, unpackedBody, wholeMessage, type ReceivedMessage } from './tracking-call.ts';

/**
 * The messages of a request: the messages of a call, the body of a webhook, or the items of a list. Empty if the body is not
 * JSON.
 */
export function messagesOf(request: ReceivedRequest): readonly ReceivedMessage[] {
  return readingOf(request).messages;
}

/**
 * Why the content of a POST could not be read completely. Undefined if it could, or if the response makes its sender retry
 * it.
 */
export function unreadReason(request: ReceivedRequest): string | undefined {
  if (request.method !== 'POST') return undefined;
  const { messages, reason } = readingOf(request);
  if (!isAccepted(request) && request.call?.rejection === undefined) return undefined;
  if (reason !== undefined) return withoutWriteKeys(reason);
  return messages.length === 0 ? 'it has no message' : undefined;
}

/** Returns why the content of a rejected request will stay unknown. Undefined if its sender retries it. */
export function rejectedReason({ status = 0, reason }: ConnectionRejection): string | undefined {
  const isFinal = status >= 400 && status < 500 && status !== 408;
  return isFinal ? `it was rejected with ${status}: ${reason}` : undefined;
}

/**
 * Whether a request got a 2xx. After any other response, or none, its sender retries it, because it counts as not delivered.
 */
export function isAccepted({ status }: Pick<ReceivedRequest, 'status'>): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

interface RequestReading {
  readonly messages: readonly ReceivedMessage[];
  /** Why the messages in a request's body could not be read completely, as a sentence. */
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

/** Cache by body, because the output, the expectations and the inbox read each request. */
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

/**
 * Parses JSON even if it contains numbers that JavaScript cannot represent. `reason` says what the parsing lost, or why the
 * body is not JSON.
 */
function readLossy(body: Buffer): { readonly value?: JsonValue; readonly reason?: string } {
  try {
    return { value: readJson(body) };
  } catch (error) {
    const { message: reason } = jsonRejection(error);
    // A ValidationError means that the body is JSON that cannot be parsed without loss.
    return error instanceof ValidationError
      ? { value: parseJsonOrUndefined(body) ?? null, reason }
      : { reason };
  }
}

/** The fields of a message that one line of output shows. */
export interface MessageFacts {
  readonly type?: string;
  readonly event?: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly messageId?: string;
  readonly timestamp?: string;
  /** The last characters of the write key, to tell keys apart without showing them. */
  readonly writeKey?: string;
}

/** The fields of a message to show. Omits fields whose value is not a string. */
export function messageFacts(message: ReceivedMessage): MessageFacts {
  const value = wholeMessage(message, shownWriteKey);
  if (!isJsonObject(value)) return {};
  const { type, event, anonymousId, messageId, timestamp, writeKey } = value;
  const userId = value['userId'] || value['User ID'] || undefined; // an empty user id counts as missing
  const facts: Record<string, string> = {};
  const known = { type, event, userId, anonymousId, messageId, timestamp, writeKey };
  for (const [name, fact] of Object.entries(known)) {
    if (typeof fact === 'string') facts[name] = fact;
  }
  return facts;
}

/** Describes a message, such as `track "Signup" by u1`. Not escaped for terminals. */
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
