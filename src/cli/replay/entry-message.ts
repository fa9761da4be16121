import { HooksError, ValidationError } from '../../errors.ts';
import { encodeBody } from '../../message/body.ts';
import { buildParsed } from '../../message/build.ts';
import { readJson } from '../../message/json.ts';
import { checkMessageSize, MAX_MESSAGE_BYTES, messageBytes } from '../../message/limits.ts';
import { isJsonObject, type JsonObject, type JsonValue, type Message } from '../../message/types.ts';
import { parseJsonOrUndefined } from '../../replay/batch-document.ts';
import type { ReplayEntry, FoundEntry } from '../../replay/replay-entry.ts';
import { recordedAtOf, type Rewrite } from '../../replay/rewrite.ts';

/** The value of an entry, or why there is none. */
export type ReadEntry =
  | { readonly entry: FoundEntry; readonly value: JsonValue; readonly error?: undefined }
  | { readonly entry: ReplayEntry; readonly value?: undefined; readonly error: HooksError };

export interface SendableMessage {
  readonly message: Message;
  /** With `--exact`. */
  readonly exactBody?: Uint8Array | undefined;
}

/** An entry with the message that is sent, or why there is none. */
export interface ReadyEntry {
  readonly entry: FoundEntry;
  readonly value: JsonValue;
  readonly ready: SendableMessage;
  readonly error?: undefined;
}

export interface RefusedEntry {
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
    return { entry, value: readJson(entry.bytes, entry.origin) };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    // What was received once is sent as it was, whatever it says.
    if (exact && entry.kind === 'capture') return { entry, value: whatCanBeRead(entry, error) };
    return { entry, error };
  }
}

/** For what goes by the fields of a message, such as --filter; it is not sent. */
function whatCanBeRead({ bytes }: FoundEntry, refusal: HooksError): JsonValue {
  // Its JSON is well-formed: JavaScript would lose a number or a duplicate key. What is nested too deep is left alone.
  const value = refusal instanceof ValidationError ? parseJsonOrUndefined(Buffer.from(bytes)) : undefined;
  return (value as JsonValue | undefined) ?? null; // what JSON.parse gives
}

export function readyEntry(read: ReadEntry, options: ReadyOptions): ReadyEntry | RefusedEntry {
  if (read.error !== undefined) return read;
  const { entry, value } = read;
  try {
    return { entry, value, ready: readyMessage(entry, value, options) };
  } catch (error) {
    if (error instanceof HooksError) return { entry, error };
    throw error;
  }
}

/** The message of an entry, ready to be sent. Throws ValidationError. */
export function readyMessage(entry: FoundEntry, value: JsonValue, options: ReadyOptions): SendableMessage {
  if (options.exact) {
    if (entry.kind !== 'capture') refuseUnlessObject(value);
    return { message: asItIs(value, options.now()), exactBody: entry.bytes };
  }
  const message = buildParsed(isJsonObject(value) ? options.rewrite(value) : value, {
    now: options.now(),
    strict: options.strict,
  });
  checkSize(entry.bytes.byteLength, value);
  return { message };
}

/** Writing a number out makes it at most 21/4 as long (1e20), so a short entry need not be written out to be measured. */
function checkSize(entryBytes: number, value: JsonValue): void {
  if (entryBytes <= MAX_MESSAGE_BYTES / 6) return;
  checkMessageSize(messageBytes(value as JsonObject)); // buildParsed has taken it
}

function refuseUnlessObject(value: JsonValue): void {
  if (isJsonObject(value)) return;
  throw new ValidationError('expected a JSON object', { path: '', hint: 'a webhook carries one object' });
}

/** A message for what looks at fields only, as `--exact` does, which sends anybody's webhook: its type, title, ids and integrations, where they are what ours are. */
export function asItIs(given: JsonValue, now: number): Message {
  const value = isJsonObject(given) ? given : {};
  const recordedAt = recordedAtOf(value) ?? now;
  const type = typeof value['type'] === 'string' ? value['type'] : 'unknown';
  const known: Record<string, JsonValue> = { type, timestamp: new Date(recordedAt).toISOString() };
  for (const name of TEXTS) {
    const text = textOf(value[name]);
    if (text !== '') known[name] = text;
  }
  for (const name of OBJECTS) {
    const object = value[name];
    if (isJsonObject(object)) known[name] = object;
  }
  return known as unknown as Message; // not one of ours, and never encoded
}

const TEXTS = ['event', 'name', 'userId', 'anonymousId', 'previousId', 'groupId', 'messageId'];
const OBJECTS = ['properties', 'integrations'];

/** Others have numbers for ids. */
function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The body that is sent, for a person to read. */
export function sentBodyText({ message, exactBody }: SendableMessage): string {
  return exactBody === undefined ? encodeBody(message) : Buffer.from(exactBody).toString();
}

/** Whether a receiver that re-serialises the body gets the same bytes. */
export function isFixedPoint(bytes: Uint8Array, value: JsonValue): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).equals(
    Buffer.from(JSON.stringify(value)),
  );
}
