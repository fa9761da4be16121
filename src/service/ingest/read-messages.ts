import { InputError, ValidationError } from '../../errors.ts';
import { formatCount, MAX_BATCH_BYTES_ACCEPTED } from '../../message/limits.ts';
import { readJson } from '../../message/json/read-json.ts';
import { messageBytes } from '../../message/build.ts';
import {
  isJsonObject,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  type MessageType,
} from '../../message/types.ts';
import { batchItems } from './batch-items.ts';
import { invalid, malformed, jsonRejection, tooLarge, type IngestRejection } from '../request/rejection.ts';

/** The messages of a request, not yet validated. */
export interface PostedMessages {
  readonly items: readonly PostedMessage[];
  /** The write key in the body, for clients without Basic auth. */
  readonly writeKey: string | undefined;
  /** Total bytes that the batch's `context` and `integrations` add to its messages. */
  readonly addedBytes: number;
}

export type PostedMessage =
  | {
      readonly input: JsonValue;
      /** The message as sent, before the type in the path was added to `input`. */
      readonly own?: JsonValue;
      /** The message as sent, before `context` and `integrations` of the batch were added to `input`. */
      readonly item?: JsonValue;
    }
  /** A message whose JSON cannot be parsed without loss, such as a number that is too large. */
  | { readonly input?: never; readonly bytes: Uint8Array; readonly error: InputError | ValidationError };

export type ReadMessages =
  | { readonly ok: true; readonly messages: PostedMessages }
  | { readonly ok: false; readonly rejection: IngestRejection };

/**
 * Most messages of a batch: more than the valid messages that fit, since the smallest has 29 bytes. Limits the memory for
 * batches of tiny invalid messages.
 */
const MAX_MESSAGES = 17_000;

/**
 * Most bytes that the fields of a batch add to all its messages together: a context of 1 KB fits for every message of a full
 * batch, and no request grows by a factor of hundreds.
 */
const MAX_ADDED_BYTES = 8 * MAX_BATCH_BYTES_ACCEPTED;

/** Reads `{"batch":[…]}`. A message that cannot be parsed without loss does not affect the others. */
export function readBatch(bytes: Buffer): ReadMessages {
  try {
    return readBatchValue(readJson(bytes));
  } catch (error) {
    return error instanceof ValidationError ? readOneByOne(bytes, error) : reject(jsonRejection(error));
  }
}

/** Reads one message whose type is given by the path of the request. */
export function readSingle(bytes: Buffer, type: MessageType): ReadMessages {
  try {
    const input = readJson(bytes);
    if (!isJsonObject(input)) return reject(malformed('Expected a message to be a JSON object'));
    const { type: given = type } = input;
    if (given !== type) return reject(otherType(type, given));
    const items = [{ input: { ...input, type }, own: input }];
    return accept({ items, writeKey: writeKeyOf(input), addedBytes: 0 });
  } catch (error) {
    return reject(jsonRejection(error));
  }
}

function readBatchValue(value: JsonValue): ReadMessages {
  if (!isJsonObject(value)) return reject(NO_BATCH);
  const { batch } = value;
  if (!isJsonArray(batch)) return reject(NO_BATCH);
  return readItems(
    batch.map((input) => ({ input })),
    value,
  );
}

const NO_BATCH = malformed(
  'Expected an object with an array `batch`',
  'send {"batch":[…]}, or one message to /v1/track and the like',
);

/**
 * Reads each message separately. `error` says why the body could not be parsed as a whole, and is the rejection if the body
 * has no array `batch`.
 */
function readOneByOne(bytes: Buffer, error: ValidationError): ReadMessages {
  const found = batchItems(bytes);
  if (found === undefined) return reject(jsonRejection(error));
  try {
    const envelope = readJson(found.rest);
    if (!isJsonObject(envelope)) return reject(NO_BATCH);
    const items = found.items.map(([start, end]) => readMessage(bytes.subarray(start, end)));
    return readItems(items, envelope);
  } catch (restError) {
    return reject(jsonRejection(restError));
  }
}

function readMessage(bytes: Uint8Array): PostedMessage {
  try {
    return { input: readJson(bytes) };
  } catch (error) {
    if (error instanceof ValidationError || error instanceof InputError) return { bytes, error };
    throw error;
  }
}

function readItems(items: readonly PostedMessage[], envelope: JsonObject): ReadMessages {
  if (items.length > MAX_MESSAGES) {
    return reject(tooLarge(`Expected at most ${formatCount(MAX_MESSAGES)} messages in a batch`));
  }
  const defaults = defaultsOf(envelope);
  const isAny = Object.keys(defaults).length > 0;
  const addedBytes = isAny ? items.length * messageBytes(defaults) : 0;
  if (addedBytes > MAX_ADDED_BYTES) return reject(addsTooMuch(items.length, addedBytes));
  return accept({
    items: isAny ? items.map((item) => withDefaults(item, defaults)) : items,
    writeKey: writeKeyOf(envelope),
    addedBytes,
  });
}

function addsTooMuch(count: number, bytes: number): IngestRejection {
  const adding = `\`context\` and \`integrations\` of the batch to add at most ${formatCount(MAX_ADDED_BYTES)} bytes`;
  return tooLarge(`Expected ${adding} to its ${formatCount(count)} messages, got ${formatCount(bytes)}`);
}

/** The fields that a batch can set for all its messages. */
interface Defaults {
  readonly context?: JsonObject;
  readonly integrations?: JsonObject;
}

function defaultsOf({ context, integrations }: JsonObject): Defaults {
  return { ...(isJsonObject(context) && { context }), ...(isJsonObject(integrations) && { integrations }) };
}

/** Adds the batch's fields to a message. The message's own values take precedence. */
function withDefaults(posted: PostedMessage, { context, integrations }: Defaults): PostedMessage {
  const { input: item } = posted;
  if (!isJsonObject(item)) return posted;
  const input = {
    ...item,
    ...(context && { context: merged(context, item['context']) }),
    ...(integrations && { integrations: merged(integrations, item['integrations']) }),
  };
  return { input, item };
}

/**
 * Merges a field of a message over the same field of the batch. Keeps a message's value that is not an object, because
 * validating the message rejects it.
 */
function merged(defaults: JsonObject, own: JsonValue | undefined): JsonValue {
  if (own === undefined || own === null) return defaults;
  return isJsonObject(own) ? { ...defaults, ...own } : own;
}

function otherType(type: MessageType, given: JsonValue): IngestRejection {
  const got = typeof given === 'string' ? JSON.stringify(given.slice(0, 40)) : `a ${typeof given}`;
  const message = `Expected \`type\` to be "${type}" as the path says, got ${got}`;
  return invalid(message, 'omit `type`, or post to the path of that type');
}

function writeKeyOf({ writeKey }: JsonObject): string | undefined {
  return typeof writeKey === 'string' ? writeKey : undefined;
}

function accept(messages: PostedMessages): ReadMessages {
  return { ok: true, messages };
}

function reject(rejection: IngestRejection): ReadMessages {
  return { ok: false, rejection };
}
