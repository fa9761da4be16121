import { capturedBody } from '../../../capture/to-capture.ts';
import type { AttemptRecord } from '../../../attempt-record.ts';
import { isoTime } from '../../../clock.ts';
import { InputError } from '../../../errors.ts';
import { readTimestamp } from '../../../message/timestamp.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../message/types.ts';
import { DEAD_REASONS, type Delivery } from '../../../queue/delivery.ts';
import type { SeenMessage } from '../../../service/ingest/seen.ts';
import { printable } from '../../../redact.ts';
import { STATES } from './selection.ts';

/** Returns the fields of a delivery that `hooks queue list -o json` prints. */
export function briefJson(delivery: Delivery): Record<string, unknown> {
  const { id, messageId, type, source, destination, state, reason, detail, createdAt, dueAt, settledAt } =
    delivery;
  const { rounds, attempts } = delivery.progress;
  const last = attempts.at(-1);
  return {
    id,
    messageId,
    type,
    source,
    destination,
    state,
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
    createdAt: isoTime(createdAt),
    ...(settledAt === undefined ? { dueAt: isoTime(dueAt) } : { settledAt: isoTime(settledAt) }),
    rounds,
    ...(last !== undefined && { lastAttempt: attemptJson(last) }),
  };
}

/**
 * Returns all fields, with the body and every attempt: `deliveryOf` reads them. A damaged body is named `damaged`, so that no
 * program sends it.
 */
export function fullJson(delivery: Delivery): Record<string, unknown> {
  const { orderKeys, trace, progress, body, isDamaged } = delivery;
  const { lastAttempt: _, ...brief } = briefJson(delivery);
  const { firstAttemptAt, rejectedBy, notBefore } = progress;
  const waits = Object.entries(notBefore).map(([url, time]) => [url, isoTime(time)] as const);
  return {
    ...brief,
    orderKeys,
    ...(trace !== undefined && { trace }),
    ...(firstAttemptAt !== undefined && { firstAttemptAt: isoTime(firstAttemptAt) }),
    rejectedBy,
    ...(waits.length > 0 && { notBefore: Object.fromEntries(waits) }),
    attempts: progress.attempts.map(attemptJson),
    ...(isDamaged ? { damaged: capturedBody(body) } : capturedBody(body)),
  };
}

function attemptJson({ at, ...attempt }: AttemptRecord): object {
  return { at: isoTime(at), ...attempt };
}

/**
 * Reads a delivery that `fullJson` wrote. Throws InputError without a place for a value that is not one, and for a damaged
 * delivery.
 */
export function deliveryOf(value: JsonValue): Delivery {
  if (!isJsonObject(value)) throw notADelivery('an object', value);
  const state = oneOf(value, 'state', STATES);
  const createdAt = timeOf(value, 'createdAt');
  const settledAt = value['settledAt'] === undefined ? undefined : timeOf(value, 'settledAt');
  const isDead = state === 'dead';
  return {
    id: textOf(value, 'id'),
    source: textOf(value, 'source'),
    destination: textOf(value, 'destination', { mayBeEmpty: isDead }),
    messageId: textOf(value, 'messageId', { mayBeEmpty: isDead }),
    type: textOf(value, 'type', { mayBeEmpty: isDead }),
    body: bodyOf(value),
    orderKeys: textsOf(value, 'orderKeys'),
    trace: optionalTextOf(value, 'trace'),
    createdAt,
    dueAt: settledAt === undefined ? timeOf(value, 'dueAt') : createdAt,
    state,
    progress: progressOf(value),
    ...(isDead && { reason: oneOf(value, 'reason', DEAD_REASONS), settledAt: settledAt ?? createdAt }),
    detail: optionalTextOf(value, 'detail'),
  };
}

/** Returns the line of an export about a message that was accepted: `seenMessageOf` reads it. */
export function seenJson({ source, messageId, acceptedAt }: SeenMessage): object {
  return { seen: { source, messageId, acceptedAt: isoTime(acceptedAt) } };
}

/** Reads a value that `seenJson` wrote. Undefined for a value without `seen`. Throws InputError without a place. */
export function seenMessageOf(value: JsonValue): SeenMessage | undefined {
  const { seen } = isJsonObject(value) ? value : {};
  if (seen === undefined) return undefined;
  if (!isJsonObject(seen)) throw notADelivery('an object as `seen`', seen);
  return {
    source: textOf(seen, 'source'),
    messageId: textOf(seen, 'messageId'),
    acceptedAt: timeOf(seen, 'acceptedAt'),
  };
}

function progressOf(value: JsonObject): Delivery['progress'] {
  const { rounds = 0, firstAttemptAt, notBefore = {} } = value;
  if (!Number.isSafeInteger(rounds) || Number(rounds) < 0) throw notADelivery('a number as `rounds`', rounds);
  if (!isJsonObject(notBefore)) throw notADelivery('an object as `notBefore`', notBefore);
  return {
    rounds: Number(rounds),
    ...(firstAttemptAt !== undefined && { firstAttemptAt: timeOf(value, 'firstAttemptAt') }),
    attempts: listOf(value, 'attempts').map(attemptOf),
    rejectedBy: textsOf(value, 'rejectedBy'),
    notBefore: Object.fromEntries(Object.keys(notBefore).map((url) => [url, timeOf(notBefore, url)])),
  };
}

const RESULTS = ['delivered', 'retryable', 'rejected'] as const;

function attemptOf(value: JsonValue): AttemptRecord {
  if (!isJsonObject(value)) throw notADelivery('objects in `attempts`', value);
  const { round, ms, ...others } = value;
  if (typeof round !== 'number') throw notADelivery('a number as `round` of an attempt', round);
  if (typeof ms !== 'number') throw notADelivery('a number as `ms` of an attempt', ms);
  const [at, url, result] = [timeOf(value, 'at'), textOf(value, 'url'), oneOf(value, 'result', RESULTS)];
  return { ...others, at, url, round, result, ms };
}

function bodyOf({ body, bodyBase64 }: JsonObject): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body);
  if (typeof bodyBase64 === 'string') return Buffer.from(bodyBase64, 'base64');
  throw notADelivery('a text as `body` or `bodyBase64`', body);
}

function textOf(value: JsonObject, name: string, { mayBeEmpty = false } = {}): string {
  const text = value[name];
  if (typeof text === 'string' && (mayBeEmpty || text !== '')) return text;
  throw notADelivery(`a text as \`${name}\``, text);
}

function optionalTextOf(value: JsonObject, name: string): string | undefined {
  return value[name] === undefined ? undefined : textOf(value, name);
}

function listOf(value: JsonObject, name: string): readonly JsonValue[] {
  const list = value[name];
  if (isJsonArray(list)) return list;
  throw notADelivery(`a list as \`${name}\``, list);
}

function textsOf(value: JsonObject, name: string): readonly string[] {
  return listOf(value, name).map((text) => {
    if (typeof text === 'string') return text;
    throw notADelivery(`texts in \`${name}\``, text);
  });
}

/** Milliseconds since the epoch. */
function timeOf(value: JsonObject, name: string): number {
  const reading = readTimestamp(value[name]);
  if (reading.ok) return Date.parse(reading.iso);
  throw notADelivery(`${reading.expected} as \`${name}\``, value[name]);
}

function oneOf<T extends string>(value: JsonObject, name: string, known: readonly T[]): T {
  const found = known.find((each) => each === value[name]);
  if (found !== undefined) return found;
  throw notADelivery(`one of ${known.join(', ')} as \`${name}\``, value[name]);
}

function notADelivery(expected: string, got: JsonValue | undefined): InputError {
  const shown = got === undefined ? 'nothing' : printable(JSON.stringify(got), 60);
  return new InputError(`Expected a delivery with ${expected}, got ${shown}`);
}
