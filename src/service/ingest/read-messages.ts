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
import { malformed, jsonRejection, tooLarge, type IngestRejection } from '../request/rejection.ts';

/** The messages of a request, as they came. */
export interface PostedMessages {
  readonly items: readonly PostedMessage[];
  /** The write key in the body, for clients without Basic auth. */
  readonly writeKey: string | undefined;
  /** Bytes that a batch's own `context` and `integrations` add to its messages. */
  readonly addedBytes: number;
}

export type PostedMessage =
  | {
      readonly input: JsonValue;
      /** As the caller gave it, where the path has added the type. */
      readonly own?: JsonValue;
      /** As it came in the batch, whose `context` and `integrations` have been added. */
      readonly item?: JsonValue;
    }
  /** Reading it would lose something: `bytes` are what came. */
  | { readonly input?: never; readonly bytes: Uint8Array; readonly error: InputError | ValidationError };

export type ReadMessages =
  | { readonly ok: true; readonly messages: PostedMessages }
  | { readonly ok: false; readonly rejection: IngestRejection };

/** The most messages of a batch, more than fit into one: the smallest has 29 bytes. Bounds what invalid ones can be blown up to. */
const MAX_MESSAGES = 17_000;

/** A context of 1 KB fits onto every message of a full batch, and no request becomes hundreds of times its size. */
const MAX_ADDED_BYTES = 8 * MAX_BATCH_BYTES_ACCEPTED;

/** `{"batch":[…]}`. A message of it that cannot be read without loss does not spoil the others. */
export function readBatch(bytes: Buffer): ReadMessages {
  try {
    return ofBatch(readJson(bytes));
  } catch (error) {
    return error instanceof ValidationError ? readOneByOne(bytes, error) : reject(jsonRejection(error));
  }
}

/** One message, whose type the path says. */
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

function ofBatch(value: JsonValue): ReadMessages {
  if (!isJsonObject(value)) return reject(NO_BATCH);
  const { batch } = value;
  if (!isJsonArray(batch)) return reject(NO_BATCH);
  return ofItems(
    batch.map((input) => ({ input })),
    value,
  );
}

const NO_BATCH = malformed(
  'Expected an object with an array `batch`',
  'send {"batch":[…]}, or one message to /v1/track and the like',
);

/** `error` came from reading all of it: it stands when the loss is outside the messages. */
function readOneByOne(bytes: Buffer, error: ValidationError): ReadMessages {
  const found = batchItems(bytes);
  if (found === undefined) return reject(jsonRejection(error));
  const envelope = readRest(found.rest);
  if (!envelope.ok) return envelope;
  const items = found.items.map(([start, end]) => readMessage(bytes.subarray(start, end)));
  return ofItems(items, envelope.value);
}

function readRest(
  rest: Uint8Array,
):
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly rejection: IngestRejection } {
  try {
    const value = readJson(rest);
    return isJsonObject(value) ? { ok: true, value } : { ok: false, rejection: NO_BATCH };
  } catch (error) {
    return { ok: false, rejection: jsonRejection(error) };
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

function ofItems(items: readonly PostedMessage[], envelope: JsonObject): ReadMessages {
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

/** What a batch of the tracking API may set for all its messages. */
interface Defaults {
  readonly context?: JsonObject;
  readonly integrations?: JsonObject;
}

function defaultsOf({ context, integrations }: JsonObject): Defaults {
  return { ...(isJsonObject(context) && { context }), ...(isJsonObject(integrations) && { integrations }) };
}

/** A message's own values win. */
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

/** A value that is no object stays, for the message's check to reject. */
function merged(defaults: JsonObject, own: JsonValue | undefined): JsonValue {
  if (own === undefined || own === null) return defaults;
  return isJsonObject(own) ? { ...defaults, ...own } : own;
}

function otherType(type: MessageType, given: JsonValue): IngestRejection {
  const got = typeof given === 'string' ? JSON.stringify(given.slice(0, 40)) : `a ${typeof given}`;
  return {
    status: 400,
    code: 'invalid',
    message: `Expected \`type\` to be "${type}" as the path says, got ${got}`,
    hint: 'leave `type` out, or post to the path of that type',
  };
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
