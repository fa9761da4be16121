import { HooksError, ValidationError } from '../../../errors.ts';
import { buildParsed, validateMessageSize, messageBytes } from '../../../message/build.ts';
import { finishedMessageOf } from '../../../message/finished-message.ts';
import { readJsonText, type JsonReading } from '../../../message/json/read-json.ts';
import { MAX_MESSAGE_BYTES } from '../../../message/limits.ts';
import { splicedBody } from '../../../message/outgoing-message.ts';
import { unbuiltMessage, type SendableMessage } from '../../../message/sendable-message.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../message/types.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';
import type { ReplayEntry, FoundEntry } from '../../../replay/reading/replay-entry.ts';
import { withExactInHint } from '../../flags/message/message-flags.ts';
import { foreignValueOf, isExported } from '../../../replay/foreign-value.ts';
import type { Rewrite } from '../../../replay/rewrite.ts';

interface EntryReading extends JsonReading {
  readonly entry: FoundEntry;
  readonly error?: undefined;
}

/** An entry with its parsed value, or with the error that occurred when it was parsed. */
export type ReadEntry = EntryReading | RejectedEntry;

export interface ReadyEntry extends EntryReading {
  readonly ready: SendableMessage;
}

/** An entry that cannot be sent, with the error. */
interface RejectedEntry {
  readonly entry: ReplayEntry;
  readonly value?: undefined;
  readonly error: HooksError;
}

export interface ReadyOptions {
  readonly exact: boolean;
  readonly strict: boolean;
  readonly rewrite: Rewrite;
  readonly now: () => number;
  /** Returns an error if a message violates the tracking plan of `--plan`. Undefined without that flag. */
  readonly violation?: ((message: JsonValue) => HooksError | undefined) | undefined;
}

export function prepareEntry(entry: ReplayEntry, { exact }: Pick<ReadyOptions, 'exact'>): ReadEntry {
  if (entry.kind === 'broken') return { entry, error: entry.error };
  try {
    const { value, stringified } = readJsonText(entry.bytes, entry.origin);
    return { entry, value, stringified };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    // A body need not be JSON with --exact, unless it is a line of NDJSON.
    if (exact && (entry.kind === 'capture' || error instanceof ValidationError)) {
      return { entry, value: readableValue(entry, error) };
    }
    return { entry, error };
  }
}

/** Parses a body for flags about fields, such as --filter; null if that is impossible. The value is not sent. */
function readableValue({ bytes }: FoundEntry, error: HooksError): JsonValue {
  // A ValidationError means valid JSON in which JavaScript would lose something: a number that it cannot represent, or a
  // duplicate key. This does not matter to filters.
  return (error instanceof ValidationError ? parseJsonOrUndefined(bytes) : undefined) ?? null;
}

export function readyEntry(read: ReadEntry, options: ReadyOptions): ReadyEntry | RejectedEntry {
  if (read.error !== undefined) return read;
  const { entry, value, stringified } = read;
  try {
    const ready = readyMessage(read, options);
    const violation = options.violation?.(value);
    return violation === undefined ? { entry, value, stringified, ready } : { entry, error: violation };
  } catch (error) {
    if (error instanceof ValidationError) return { entry, error: explained(error, value) };
    if (error instanceof HooksError) return { entry, error };
    throw error;
  }
}

/**
 * If the value wraps messages, as an SQS event does, adds to the error what the value is and how to get the messages.
 * Otherwise adds the hint about --exact, if it applies.
 */
function explained(error: ValidationError, value: JsonValue): ValidationError {
  const { path } = error;
  const foreign = path === '' || path === 'type' || isExported(value) ? foreignValueOf(value) : undefined;
  if (foreign === undefined) return withExactInHint(error);
  const { reason, hint } = foreign;
  return new ValidationError(`${error.message}: ${reason}`, {
    path,
    got: error.got ?? '',
    hint,
    cause: error,
  });
}

/** Builds the message of an entry. Throws ValidationError if it is not a valid message. Accepts any value with --exact. */
function readyMessage({ entry, value, stringified }: EntryReading, options: ReadyOptions): SendableMessage {
  if (options.exact) {
    return { message: unbuiltMessage(value), exactBody: entry.bytes };
  }
  const { strict, now } = options;
  const rewritten = isJsonObject(value) ? options.rewrite(value) : value;
  const finished = isJsonObject(rewritten) ? finishedMessageOf(rewritten, { strict }) : undefined;
  const message = finished ?? buildParsed(rewritten, { now: now(), strict });
  if (stringified === undefined || !isJsonObject(value)) {
    validateSize(entry.bytes.byteLength, value);
    return { message };
  }
  validateMessageSize(entry.bytes.byteLength);
  return { message, exactBody: splicedBody(message, value, stringified, entry.bytes) };
}

/**
 * Validates the size of the message by serializing it. Skips entries of at most a sixth of the maximum, which cannot exceed
 * it: serializing lengthens only numbers, to at most 21/4 of their length (1e20).
 */
function validateSize(entryBytes: number, value: JsonValue): void {
  if (entryBytes <= MAX_MESSAGE_BYTES / 6) return;
  validateMessageSize(messageBytes(value as JsonObject)); // an object, since buildParsed accepted it
}

/** Whether parsing and re-serializing the body as JSON results in the same bytes. Also true for a body that is not JSON. */
export function isFixedPoint({ entry: { bytes }, value, stringified }: ReadyEntry): boolean {
  return stringified !== undefined || value === null || Buffer.from(JSON.stringify(value)).equals(bytes);
}
