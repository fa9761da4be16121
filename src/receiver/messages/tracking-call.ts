import { gunzipSync } from 'node:zlib';
import { MAX_BATCH_BYTES_ACCEPTED } from '../../message/limits.ts';
import { isJsonObject, isJsonArray, type JsonValue } from '../../message/types.ts';
import {
  readBatch,
  readSingle,
  type PostedMessage,
  type ReadMessages,
} from '../../service/ingest/read-messages.ts';
import { rejectionOfMessage, type MessageRejection } from '../../service/ingest/sort-messages.ts';
import { basicUser } from '../../service/request/authentication.ts';
import {
  encodingRejection,
  isGzip,
  TOO_LARGE,
  UNDECLARED_GZIP,
  unpackingRejection,
} from '../../service/request/encoding.ts';
import { MESSAGE_PATHS } from '../../service/request/message-paths.ts';
import type { IngestRejection } from '../../service/request/rejection.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';

/** The content of a request of a client library. */
export interface TrackingCall {
  /** The messages in the order of the call. Empty if a tracking API would reject the call. */
  readonly messages: readonly ReceivedMessage[];
  /** Why a tracking API would reject the whole call, such as an invalid batch. */
  readonly rejection?: IngestRejection;
  /** The write key of Basic auth or the body. A secret. */
  readonly writeKey?: string;
}

export interface ReceivedMessage {
  /** Position of the message in its request, from 0. */
  readonly index: number;
  /** The message with the common fields of its batch, but without its write key. */
  readonly value: JsonValue;
  /** The write key of the message, else that of its call. A secret. */
  readonly writeKey?: string;
  /** Why a tracking API rejects this message. */
  readonly rejection?: MessageRejection;
}

/** The parts of a request that determine whether it is a call of a tracking API. */
export interface CallRequest {
  readonly method?: string | undefined;
  /** The request target, such as `/v1/batch`. */
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
  /** Time when the request arrived. Ms since the epoch. */
  readonly at: number;
}

/** Reads a request as a call of a tracking API, like `hooks serve`. Undefined for other requests, such as webhooks. */
export function trackingCallOf(request: CallRequest): TrackingCall | undefined {
  if (request.method !== 'POST') return undefined;
  const name = callName(request.path);
  const bytes = unpackedBody(request);
  if (name === undefined && ('rejection' in bytes || !hasBatch(bytes.body))) return undefined;
  if ('rejection' in bytes) return { messages: [], rejection: bytes.rejection };
  const { body } = bytes;
  if (body.length > MAX_BATCH_BYTES_ACCEPTED) return { messages: [], rejection: TOO_LARGE };
  const type = name === undefined ? undefined : MESSAGE_PATHS[name];
  const read = type === undefined ? readBatch(body) : readSingle(body, type);
  const user = basicUser(headerOf(request, 'authorization'));
  return callOf(read, user, { now: request.at, requestBytes: body.length });
}

function callOf(
  read: ReadMessages,
  user: string | undefined,
  options: { readonly now: number; readonly requestBytes: number },
): TrackingCall {
  if (!read.ok) {
    return { messages: [], rejection: read.rejection, ...(user !== undefined && { writeKey: user }) };
  }
  const { items, writeKey = user } = read.messages;
  const messages = items.map((posted, index): ReceivedMessage => {
    const rejection = rejectionOfMessage(posted, options);
    const message = { index, ...keyedMessage(valueOf(posted), writeKey) };
    return rejection === undefined ? message : { ...message, rejection };
  });
  return { messages, ...(writeKey !== undefined && { writeKey }) };
}

/**
 * Separates a message from its write key, which some clients repeat in each message. Without its own key the message gets
 * `callKey`, the key of the call. Makes clients alike for filters: leaves out an empty user id, and copies RudderStack's
 * `originalTimestamp` to `timestamp`.
 */
export function keyedMessage(
  message: JsonValue,
  callKey?: string,
): Pick<ReceivedMessage, 'value' | 'writeKey'> {
  if (!isJsonObject(message)) return { value: message, ...(callKey !== undefined && { writeKey: callKey }) };
  const { writeKey: own, ...fields } = message;
  const value: Record<string, JsonValue> = fields;
  if (value['userId'] === '') delete value['userId'];
  const { timestamp = value['originalTimestamp'] } = value;
  if (typeof timestamp === 'string') value['timestamp'] = timestamp;
  const writeKey = typeof own === 'string' ? own : callKey;
  return { value, ...(writeKey !== undefined && { writeKey }) };
}

/**
 * Returns a message that has its write key as a field again. Output passes `written`, which masks the key; filters get the
 * whole key.
 */
export function wholeMessage(
  { value, writeKey }: ReceivedMessage,
  written = (key: string): string => key,
): JsonValue {
  return isJsonObject(value) && writeKey !== undefined ? { ...value, writeKey: written(writeKey) } : value;
}

/** The posted message as JSON. A message that cannot be parsed without loss is parsed with loss, so that it can be shown. */
function valueOf(posted: PostedMessage): JsonValue {
  return posted.input === undefined ? (parseJsonOrUndefined(posted.bytes) ?? null) : posted.input;
}

const CALL_PATH = new RegExp(`/v1/(${Object.keys(MESSAGE_PATHS).join('|')})/?$`);

/** The last part of a path that client libraries post to, such as `batch`. Undefined for other paths. */
export function callName(target: string): string | undefined {
  return CALL_PATH.exec(target.split('?', 1)[0] ?? '')?.[1];
}

const BATCH_KEY = '"batch"';

/** Whether a body is an object with a `batch` of messages. Searches the bytes first, which avoids parsing most bodies. */
function hasBatch(body: Buffer): boolean {
  if (body.length > MAX_BATCH_BYTES_ACCEPTED || !body.includes(BATCH_KEY)) return false;
  const parsed = parseJsonOrUndefined(body);
  const batch = isJsonObject(parsed) ? parsed['batch'] : undefined;
  return isJsonArray(batch) && batch.some(isTyped);
}

function isTyped(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value['type'] === 'string';
}

type Unpacked = { readonly body: Buffer } | { readonly rejection: IngestRejection };

/** The unpacked body of a request, with the limits of `hooks serve`. */
export function unpackedBody(request: Pick<CallRequest, 'rawHeaders' | 'body'>): Unpacked {
  const { buffer, byteOffset, byteLength } = request.body;
  const body = Buffer.from(buffer, byteOffset, byteLength);
  const encoding = (headerOf(request, 'content-encoding') ?? 'identity').trim().toLowerCase();
  const rejection = encodingRejection(encoding);
  if (rejection !== undefined) return { rejection };
  if (encoding === 'identity') return isGzip(body) ? { rejection: UNDECLARED_GZIP } : { body };
  if (body.length > MAX_BATCH_BYTES_ACCEPTED) return { rejection: TOO_LARGE };
  try {
    return { body: gunzipSync(body, { maxOutputLength: MAX_BATCH_BYTES_ACCEPTED }) };
  } catch (error) {
    return { rejection: unpackingRejection(error) };
  }
}

function headerOf({ rawHeaders }: Pick<CallRequest, 'rawHeaders'>, wanted: string): string | undefined {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === wanted.length && name.toLowerCase() === wanted) return rawHeaders[index + 1];
  }
  return undefined;
}
