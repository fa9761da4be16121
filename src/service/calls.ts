import { InputError, ValidationError } from '../errors.ts';
import { readJson } from '../message/json.ts';
import type { JsonObject, JsonValue, MessageType } from '../message/types.ts';
import { isObject } from '../message/validate.ts';
import { batchItems } from './batch-items.ts';
import { malformed, refusalOfJson, tooLarge, type Refusal } from './refusal.ts';

/** The messages that a request asks to be taken, as they came. */
export interface Calls {
  readonly items: readonly Call[];
  /** The body's own, for clients without Basic auth. */
  readonly writeKey: string | undefined;
}

export type Call =
  | {
      readonly input: JsonValue;
      /** As the caller gave it, where the path has added the type. */
      readonly own?: JsonValue;
    }
  /** Reading it would lose something: `bytes` are what came. */
  | { readonly input?: never; readonly bytes: Uint8Array; readonly error: InputError | ValidationError };

export type ReadCalls =
  { readonly ok: true; readonly calls: Calls } | { readonly ok: false; readonly refusal: Refusal };

/** More than fit into a batch: the smallest message of all has 29 bytes. Bounds what invalid ones can be blown up to. */
const MAX_MESSAGES = 17_000;

/** `{"batch":[…]}`. A message of it that cannot be read without loss does not spoil the others. */
export function readBatch(bytes: Buffer): ReadCalls {
  try {
    return ofBatch(readJson(bytes));
  } catch (error) {
    return error instanceof ValidationError ? readOneByOne(bytes, error) : refuse(refusalOfJson(error));
  }
}

/** One message, whose type the path says. */
export function readSingle(bytes: Buffer, type: MessageType): ReadCalls {
  try {
    const input = readJson(bytes);
    if (!isJsonObject(input)) return refuse(malformed('expected a message to be a JSON object'));
    const { type: given = type } = input;
    if (given !== type) return refuse(otherType(type, given));
    return accept({ items: [{ input: { ...input, type }, own: input }], writeKey: writeKeyOf(input) });
  } catch (error) {
    return refuse(refusalOfJson(error));
  }
}

function ofBatch(value: JsonValue): ReadCalls {
  if (!isJsonObject(value)) return refuse(NO_BATCH);
  const { batch } = value;
  if (!Array.isArray(batch)) return refuse(NO_BATCH);
  const messages = batch as readonly JsonValue[]; // Array.isArray forgets what JSON is made of
  const items = messages.map((input) => ({ input: withDefaults(input, value) }));
  return limited({ items, writeKey: writeKeyOf(value) });
}

const NO_BATCH = malformed(
  'expected an object with an array `batch`',
  'send {"batch":[…]}, or one message to /v1/track and the like',
);

/** `error` is what reading all of it came to: it stands when the loss is outside the messages. */
function readOneByOne(bytes: Buffer, error: ValidationError): ReadCalls {
  const found = batchItems(bytes);
  if (found === undefined) return refuse(refusalOfJson(error));
  const envelope = readRest(found.rest);
  if (!envelope.ok) return envelope;
  const items = found.items.map(([start, end]): Call => {
    const call = readCall(bytes.subarray(start, end));
    return call.input === undefined ? call : { input: withDefaults(call.input, envelope.value) };
  });
  return limited({ items, writeKey: writeKeyOf(envelope.value) });
}

function readRest(
  rest: Uint8Array,
): { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly refusal: Refusal } {
  try {
    const value = readJson(rest);
    return isJsonObject(value) ? { ok: true, value } : { ok: false, refusal: NO_BATCH };
  } catch (error) {
    return { ok: false, refusal: refusalOfJson(error) };
  }
}

function readCall(bytes: Uint8Array): Call {
  try {
    return { input: readJson(bytes) };
  } catch (error) {
    if (error instanceof ValidationError || error instanceof InputError) return { bytes, error };
    throw error;
  }
}

/** What the tracking API's batches may say once for all their messages; what a message says itself wins. */
function withDefaults(input: JsonValue, { context, integrations }: JsonObject): JsonValue {
  if (!isJsonObject(input) || (context === undefined && integrations === undefined)) return input;
  return {
    ...input,
    ...(isJsonObject(context) && { context: merged(context, input['context']) }),
    ...(isJsonObject(integrations) && { integrations: merged(integrations, input['integrations']) }),
  };
}

/** What is no object is left for the message's check to complain of. */
function merged(defaults: JsonObject, own: JsonValue | undefined): JsonValue {
  if (own === undefined || own === null) return defaults;
  return isJsonObject(own) ? { ...defaults, ...own } : own;
}

function limited(calls: Calls): ReadCalls {
  if (calls.items.length <= MAX_MESSAGES) return accept(calls);
  return refuse(tooLarge(`expected at most ${MAX_MESSAGES.toLocaleString('en-US')} messages in a batch`));
}

function otherType(type: MessageType, given: JsonValue): Refusal {
  const got = typeof given === 'string' ? JSON.stringify(given.slice(0, 40)) : `a ${typeof given}`;
  return {
    status: 400,
    code: 'invalid',
    message: `expected \`type\` to be "${type}" as the path says, got ${got}`,
    hint: 'leave `type` out, or post to the path of that type',
  };
}

function writeKeyOf({ writeKey }: JsonObject): string | undefined {
  return typeof writeKey === 'string' ? writeKey : undefined;
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value);
}

function accept(calls: Calls): ReadCalls {
  return { ok: true, calls };
}

function refuse(refusal: Refusal): ReadCalls {
  return { ok: false, refusal };
}
