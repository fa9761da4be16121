import { HooksError, ValidationError } from '../../errors.ts';
import { encodeBody } from '../../message/outgoing-message.ts';
import { buildParsed, checkMessageSize, messageBytes } from '../../message/build.ts';
import { finishedMessageOf } from '../../message/finished-message.ts';
import { readJsonText, type JsonReading } from '../../message/json/read-json.ts';
import { MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import { isJsonObject, type JsonObject, type JsonValue, type Message } from '../../message/types.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import type { ReplayEntry, FoundEntry } from '../../replay/reading/replay-entry.ts';
import { foreignValueOf } from '../../replay/foreign-value.ts';
import { recordedAtOf, type Rewrite } from '../../replay/rewrite.ts';
import { isoTime } from '../../clock.ts';

interface EntryReading extends JsonReading {
  readonly entry: FoundEntry;
  readonly error?: undefined;
}

/** An entry with its value, or with the error for which it has none. */
export type ReadEntry =
  EntryReading | { readonly entry: ReplayEntry; readonly value?: undefined; readonly error: HooksError };

export interface SendableMessage {
  readonly message: Message;
  /** The bytes to send, where they are there already: with `--exact`, and of an entry that is its body as it stands. */
  readonly exactBody?: Uint8Array | undefined;
}

export interface ReadyEntry extends EntryReading {
  readonly ready: SendableMessage;
}

/** An entry with the error for which it has no message. */
export interface RejectedEntry {
  readonly entry: ReplayEntry;
  readonly error: HooksError;
}

export interface ReadyOptions {
  readonly exact: boolean;
  readonly strict: boolean;
  readonly rewrite: Rewrite;
  readonly now: () => number;
}

export function prepareEntry(entry: ReplayEntry, { exact }: Partial<ReadyOptions> = {}): ReadEntry {
  if (entry.kind === 'broken') return { entry, error: entry.error };
  try {
    const { value, isStringified } = readJsonText(entry.bytes, entry.origin);
    return { entry, value, isStringified };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    // A captured request is sent as it was, whatever its body is.
    if (exact && entry.kind === 'capture') {
      return { entry, value: readableValue(entry, error), isStringified: false };
    }
    return { entry, error };
  }
}

/** The part of a body that can be read, for flags about fields of a message, such as --filter; it is not sent. */
function readableValue({ bytes }: FoundEntry, error: HooksError): JsonValue {
  // A ValidationError means well-formed JSON: JavaScript would lose a number or a duplicate key. Too deep nesting is left alone.
  return (error instanceof ValidationError ? parseJsonOrUndefined(bytes) : undefined) ?? null;
}

export function readyEntry(read: ReadEntry, options: ReadyOptions): ReadyEntry | RejectedEntry {
  if (read.error !== undefined) return read;
  const { entry, value, isStringified } = read;
  try {
    return { entry, value, isStringified, ready: readyMessage(read, options) };
  } catch (error) {
    if (error instanceof ValidationError) return { entry, error: explained(error, value) };
    if (error instanceof HooksError) return { entry, error };
    throw error;
  }
}

/** Says what a value is that is no message at all, where it holds messages. */
function explained(error: ValidationError, value: JsonValue): ValidationError {
  const { path } = error;
  const foreign = path === '' || path === 'type' ? foreignValueOf(value) : undefined;
  if (foreign === undefined) return error;
  const { reason, hint } = foreign;
  return new ValidationError(`${error.message}: ${reason}`, {
    path,
    got: error.got ?? '',
    hint,
    cause: error,
  });
}

/** Builds the message of an entry. Throws ValidationError. */
function readyMessage({ entry, value, isStringified }: EntryReading, options: ReadyOptions): SendableMessage {
  if (options.exact) {
    if (entry.kind !== 'capture') requireObject(value);
    return { message: unbuiltMessage(value, options.now()), exactBody: entry.bytes };
  }
  const { strict, now } = options;
  const rewritten = isJsonObject(value) ? options.rewrite(value) : value;
  const finished = isJsonObject(rewritten) ? finishedMessageOf(rewritten, { strict }) : undefined;
  const message = finished?.message ?? buildParsed(rewritten, { now: now(), strict });
  if (finished?.isBody && isStringified && rewritten === value) {
    checkMessageSize(entry.bytes.byteLength);
    // A copy: the entry's own bytes keep the part of the file around them in memory.
    return { message, exactBody: Buffer.from(entry.bytes) };
  }
  checkSize(entry.bytes.byteLength, value);
  return { message };
}

/** Writing a number out makes it at most 21/4 as long (1e20), so a short entry need not be written out to be measured. */
function checkSize(entryBytes: number, value: JsonValue): void {
  if (entryBytes <= MAX_MESSAGE_BYTES / 6) return;
  checkMessageSize(messageBytes(value as JsonObject)); // buildParsed has taken it
}

function requireObject(value: JsonValue): void {
  if (isJsonObject(value)) return;
  throw new ValidationError('expected a JSON object', {
    path: '',
    hint: 'send an object: a webhook carries one',
  });
}

/** A message for code that reads fields only. `--exact` sends any webhook: type, title, ids and integrations are taken where they have the shape of a Segment message's. */
export function unbuiltMessage(given: JsonValue, now: number): Message {
  const value = isJsonObject(given) ? given : {};
  const recordedAt = recordedAtOf(value) ?? now;
  const type = typeof value['type'] === 'string' ? value['type'] : 'unknown';
  const known: Record<string, JsonValue> = { type, timestamp: isoTime(recordedAt) };
  for (const name of TEXTS) {
    const text = idText(value[name]);
    if (text !== '') known[name] = text;
  }
  for (const name of OBJECTS) {
    const object = value[name];
    if (isJsonObject(object)) known[name] = object;
  }
  return known as unknown as Message; // no valid message, and never encoded
}

const TEXTS = ['event', 'name', 'userId', 'anonymousId', 'previousId', 'groupId', 'messageId'];
const OBJECTS = ['properties', 'integrations'];

/** A text, or a number, which others use for ids. */
function idText(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The body to send, for a person to read. */
export function sentBodyText({ message, exactBody }: SendableMessage): string {
  return exactBody === undefined ? encodeBody(message) : Buffer.from(exactBody).toString();
}

/** Whether a receiver that re-serialises the body gets the same bytes. */
export function isFixedPoint({ entry: { bytes }, value, isStringified }: ReadyEntry): boolean {
  return isStringified || Buffer.from(JSON.stringify(value)).equals(bytes);
}
