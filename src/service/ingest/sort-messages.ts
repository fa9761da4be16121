import { createHash, randomUUID } from 'node:crypto';
import { ValidationError } from '../../errors.ts';
import { isObject } from '../../validate-options.ts';
import { encodeBody, type OutgoingMessage } from '../../message/outgoing-message.ts';
import { buildParsed, validateMessageSize, messageBytes } from '../../message/build.ts';
import { MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import { isMessageType, type JsonObject, type JsonValue, type Message } from '../../message/types.ts';
import type { TraceContext } from '../../message/trace-context.ts';
import { MASK } from '../../redact.ts';
import type { PostedMessage } from './read-messages.ts';
import type { InvalidMessage } from './ingest-target.ts';
import type { PlanGuard } from './plan-guard.ts';
import { SEEN_FOR_MS } from './seen.ts';

export interface SortedMessages {
  readonly valid: readonly OutgoingMessage[];
  readonly rejected: readonly RejectedBatchItem[];
}

export interface RejectedBatchItem {
  /** Position of the message in its batch, from 0. */
  readonly index: number;
  readonly code: 'invalid' | 'too-large' | 'unplanned';
  readonly message: string;
  readonly hint: string | undefined;
  /** The dead letter of an invalid message. */
  readonly letter?: InvalidMessage;
  /** The message that violates the tracking plan. Each of its deliveries becomes a dead letter. */
  readonly unplanned?: OutgoingMessage;
}

interface SortOptions {
  readonly source: string;
  /** The timestamp of messages that have no `timestamp`. Ms since the epoch. */
  readonly now: number;
  /** Size of the whole request. If it is below the limit for a message, the sizes of the messages need no check. */
  readonly requestBytes: number;
  /** The write key, which is removed from dead letters. */
  readonly writeKey: string;
  /** Checks each valid message with the tracking plan of the source. @default no plan */
  readonly guard?: PlanGuard | undefined;
  /** The trace context of the request. */
  readonly trace?: TraceContext | undefined;
}

/** Separates valid messages from rejected messages. */
export function sortMessages(messages: readonly PostedMessage[], options: SortOptions): SortedMessages {
  const valid: OutgoingMessage[] = [];
  const rejected: RejectedBatchItem[] = [];
  messages.forEach((posted, index) => {
    try {
      const message = readMessage(posted, options);
      const { violation } = message;
      if (violation === undefined) {
        valid.push(message);
        return;
      }
      rejected.push({ index, code: 'unplanned', message: violation, hint: UNPLANNED, unplanned: message });
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      rejected.push(rejectedMessage(posted, error, { ...options, index }));
    }
  });
  return { valid, rejected };
}

/** Why a tracking API rejects a message. */
export type MessageRejection =
  | { readonly code: 'invalid'; readonly message: string }
  /** The message exceeds the size limit. `bytes` is its size. */
  | { readonly code: 'too-large'; readonly message: string; readonly bytes: number };

/** Why a message is rejected. Undefined if it is accepted. */
export function rejectionOfMessage(
  posted: PostedMessage,
  options: Pick<SortOptions, 'now' | 'requestBytes'>,
): MessageRejection | undefined {
  return rejectionBy(() => validMessage(posted, options));
}

/**
 * Returns the rejection of a webhook's message that exceeds the size limit. Adds `context.library` first: in a message that
 * has it, the fields that a client library adds do not count.
 */
export function sizeRejection(input: JsonObject): MessageRejection | undefined {
  const { type, userId = input['User ID'], anonymousId, groupId, context } = input;
  if (!isMessageType(type) || (userId ?? anonymousId ?? groupId) === undefined) return undefined;
  const added = { ...(isObject(context) && context), library: '' };
  return rejectionBy(() => validateSize({ ...input, context: added }));
}

function rejectionBy(check: () => unknown): MessageRejection | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof TooLarge) return { code: 'too-large', message: error.message, bytes: error.bytes };
    if (error instanceof ValidationError) return { code: 'invalid', message: error.message };
    throw error;
  }
}

/** Validates a posted message and its size, and builds it. Throws ValidationError. */
function validMessage(
  posted: PostedMessage,
  { now, requestBytes }: Pick<SortOptions, 'now' | 'requestBytes'>,
): Message {
  if (posted.input === undefined) throw asValidationError(posted.error);
  if (requestBytes > MAX_MESSAGE_BYTES) validateSize(posted.own ?? posted.input);
  return buildParsed(posted.input, { now });
}

/** Builds the outgoing message from a posted one, with a new id if it has none. Throws ValidationError. */
function readMessage(posted: PostedMessage, options: SortOptions): OutgoingMessage {
  const message = validMessage(posted, options);
  const { source, now, trace, guard } = options;
  const { type, messageId = randomUUID(), integrations } = message;
  const body = Buffer.from(encodeBody(message));
  const outgoing = { messageId, type, integrations, body, orderKeys: [], trace };
  const violation = guard?.check(message);
  if (violation === undefined || guard?.rejects !== true) {
    return { ...outgoing, dedupeKey: message.messageId && dedupeKeyOf(messageId, now) };
  }
  // Not found by its messageId later, because the corrected message may have the same.
  // The posted message, because the built one may have a new timestamp: a call that is sent again is kept once.
  const sent = Buffer.from(JSON.stringify(posted.input));
  return { ...outgoing, deliveryId: `unplanned-${digestOf(source, sent)}`, violation };
}

const UNPLANNED = 'correct the message, or the plan: hooks queue retry delivers it then';

function digestOf(source: string, body: Uint8Array): string {
  return createHash('sha256').update(JSON.stringify(source)).update(body).digest('base64url');
}

/**
 * Identifies a message so that the store accepts it only once, even from two processes at the same moment, before either
 * remembers it. Contains the day (UTC), so that a `messageId` can be used again after 24 hours, and therefore misses
 * duplicates across midnight.
 */
function dedupeKeyOf(messageId: string, now: number): string {
  return `${Math.floor(now / SEEN_FOR_MS)} ${messageId}`;
}

function asValidationError(error: Error & { readonly hint: string | undefined }): ValidationError {
  return error instanceof ValidationError
    ? error
    : new ValidationError(error.message, { path: '', hint: error.hint });
}

class TooLarge extends ValidationError {
  readonly bytes: number;

  constructor({ message, hint }: ValidationError, bytes: number) {
    super(message, { path: '', hint });
    this.bytes = bytes;
  }
}

/** Throws TooLarge if the caller's fields exceed the limit. Fields that a client library adds do not count. */
function validateSize(input: JsonValue): void {
  if (!isObject(input) || messageBytes(input) <= MAX_MESSAGE_BYTES) return;
  const bytes = messageBytes(callersOwn(input));
  try {
    validateMessageSize(bytes);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new TooLarge(error, bytes);
  }
}

/** The fields that a client library adds to every message, besides `context.library`. */
const CLIENT_FIELDS = ['messageId', 'timestamp', 'type', 'writeKey', 'sentAt', '_metadata'];

/**
 * The fields that the caller set. Without `context.library` no client library added fields, so all count except the write
 * key.
 */
function callersOwn(input: Readonly<Record<string, unknown>>): object {
  const { context } = input;
  if (!isObject(context) || context['library'] === undefined) return without(input, ['writeKey']);
  const rest = without(context, ['library']);
  const own = without(input, [...CLIENT_FIELDS, 'context']);
  return Object.keys(rest).length === 0 ? own : { ...own, context: rest };
}

function without(
  input: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
}

function rejectedMessage(
  posted: PostedMessage,
  error: ValidationError,
  { index, source, writeKey }: SortOptions & { readonly index: number },
): RejectedBatchItem {
  const body =
    posted.input === undefined ? masked(posted.bytes, writeKey) : encoded(posted.item ?? posted.input);
  const id = `invalid-${digestOf(source, body)}`;
  const { messageId, type } = isObject(posted.input) ? posted.input : ({} as JsonObject); // a body that is not an object has no fields
  return {
    index,
    code: error instanceof TooLarge ? 'too-large' : 'invalid',
    message: error.message,
    hint: error.hint,
    letter: {
      id,
      messageId: typeof messageId === 'string' && messageId !== '' ? messageId : id,
      type: typeof type === 'string' ? type.slice(0, LONGEST_TYPE) : '',
      body,
      detail: error.message,
    },
  };
}

const LONGEST_TYPE = 40;

function encoded(input: JsonValue): Uint8Array {
  return Buffer.from(JSON.stringify(isObject(input) ? without(input, ['writeKey']) : input));
}

/**
 * Masks write keys in JSON that cannot be parsed without loss and keeps all other bytes: every string equal to the caller's
 * key, however it is escaped (`\/`, `\u002d`), and every string value of a key `writeKey`.
 */
function masked(json: Uint8Array, writeKey: string): Uint8Array {
  const text = Buffer.from(json).toString();
  return Buffer.from(
    text.replace(STRING_VALUE, (whole, start: string | undefined, key: string | undefined, value: string) => {
      const isSecret =
        JSON.parse(value) === writeKey || (key !== undefined && JSON.parse(key) === 'writeKey');
      return isSecret ? `${start ?? ''}${JSON.stringify(MASK)}` : whole;
    }),
  );
}

/** Matches a JSON string, with its key if it has one. Every quote outside a string begins a string. */
const STRING_VALUE = /(("(?:[^"\\]|\\.)*")\s*:\s*)?("(?:[^"\\]|\\.)*")/g;
