import { validateOptions } from '../validate-options.ts';
import { ValidationError } from '../errors.ts';
import { isoTime } from '../clock.ts';
import { formatCount, MAX_MESSAGE_BYTES } from './limits.ts';
import { MESSAGE_VERSION, type FieldKind, type MessageField } from './fields/fields.ts';
import { shapeOf, type MessageShape } from './fields/shape.ts';
import {
  isFieldObject,
  misspelledIdProblem,
  missingProblem,
  spellingsProblem,
  typeProblem,
  unknownProblem,
} from './fields/validate.ts';
import { formatPath } from './json/json-path.ts';
import { problemAt, put, toPlain, type Plain } from './plain.ts';
import { shownValue, type Problem } from './problem.ts';
import { readTimestamp } from './timestamp.ts';
import { isMessageType, type JsonObject, type JsonValue, type Message } from './types.ts';

export interface BuildOptions {
  /** Time of the call, which becomes the timestamp of a message without one. Ms since the epoch. */
  readonly now: number;
  /** Rejects fields that the message type does not have. @default false */
  readonly strict?: boolean | undefined;
  /**
   * Makes the anonymous id of a page, screen, identify, track or group that has no id. @default such a message is rejected
   */
  readonly anonymousId?: (() => string) | undefined;
}

const KINDS = {
  now: 'a time in ms',
  strict: 'a boolean',
  anonymousId: 'a function',
} as const satisfies Record<keyof BuildOptions, string>;

/**
 * Validates and normalizes a message from a caller, a file or a request. Does not change the input. Null counts as absent
 * in the fields that the message type defines. Throws ValidationError with the path, the expected and the actual value.
 */
export function buildMessage(input: unknown, options: BuildOptions): Message {
  if (!areValid(options)) validateOptions(options, { kinds: KINDS, required: ['now'] });
  return build(input, options, false);
}

/**
 * A quick validation, because `validateOptions` takes longer than building a message. JavaScript callers can pass any value.
 */
function areValid(options: BuildOptions): boolean {
  const { now, anonymousId = String }: Partial<BuildOptions> = isFieldObject(options) ? options : {};
  return typeof now === 'number' && Math.abs(now) < 1e14 && typeof anonymousId === 'function';
}

/** Builds a message like `buildMessage`, but from parsed JSON: skips the search for values that JSON cannot represent. */
export function buildParsed(input: JsonValue, options: BuildOptions): Message {
  return build(input, options, true);
}

function build(input: unknown, options: BuildOptions, isParsed: boolean): Message {
  if (!isFieldObject(input)) {
    throw validationError({
      path: '',
      sentence: 'Expected a message to be a JSON object',
      got: shownValue(input),
    });
  }
  const { type } = input;
  if (!isMessageType(type)) throw validationError(typeProblem(type, input));
  const shape = shapeOf(type);
  const draft: MessageDraft = { shape, fields: {}, page: {}, isParsed };
  const problem = readFields(draft, input, options) ?? complete(draft, options);
  if (problem !== undefined) throw validationError(problem, label(input, shape));
  return draft.fields as Message; // every field was read by its kind, and the required ones are present
}

type MessageInput = Readonly<Record<string, unknown>>;
type MessageFields = Record<string, JsonValue>;

interface MessageDraft {
  readonly shape: MessageShape;
  readonly fields: MessageFields;
  /** Name, category and traits of a page, which become properties. */
  readonly page: MessageFields;
  readonly isParsed: boolean;
}

function readFields(draft: MessageDraft, input: MessageInput, { strict }: BuildOptions): Problem | undefined {
  const { shape } = draft;
  for (const spelling of Object.keys(input)) {
    const value = input[spelling];
    if (value === undefined) continue;
    if (strict && !shape.bySpelling.has(spelling)) return unknownProblem(shape, spelling);
    const problem = take(draft, spelling, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Reads one field into the draft. Validates `version` but drops it, because the body adds its own `version`. */
function take(draft: MessageDraft, spelling: string, value: unknown): Problem | undefined {
  const { shape, fields, page, isParsed } = draft;
  const field = shape.bySpelling.get(spelling);
  if (field !== undefined && isLeftOut(field, value)) return undefined;
  const reading = readField(field?.kind ?? 'any', spelling, value, isParsed);
  if (!reading.ok) return reading.problem;
  if (field?.kind === 'version') return undefined;
  const name = field?.name ?? spelling;
  const other = field?.wireName === undefined ? undefined : fields[name];
  if (field !== undefined && other !== undefined && other !== reading.value) {
    return spellingsProblem(field, [other, reading.value]);
  }
  put(field?.place === 'properties' ? page : fields, name, reading.value);
  return undefined;
}

function isLeftOut({ kind, place }: MessageField, value: unknown): boolean {
  if (kind === 'any') return place === 'unsent';
  return value === null || (kind === 'id' && value === '');
}

/** Fills in optional fields. Returns a problem if a required field is missing. */
function complete({ shape, fields, page }: MessageDraft, options: BuildOptions): Problem | undefined {
  if (options.anonymousId !== undefined && shape.either.length > 0 && !hasSubject(fields)) {
    const misspelled = misspelledIdProblem(shape, fields);
    if (misspelled !== undefined) return misspelled;
    fields['anonymousId'] = options.anonymousId();
  }
  const missing = missingProblem(shape, fields);
  if (missing !== undefined) return missing;
  for (const { name } of shape.filled) fields[name] ??= {};
  if (shape.type === 'page') fields['properties'] = withPage(fields['properties'] as JsonObject, page); // filled above
  fields['timestamp'] ??= isoTime(options.now);
  return undefined;
}

function hasSubject(fields: MessageFields): boolean {
  return fields['userId'] !== undefined || fields['anonymousId'] !== undefined;
}

/** Merges a page's fields into its properties. Properties win over the name and the category, which win over the traits. */
function withPage(properties: JsonObject, { traits, ...named }: MessageFields): JsonObject {
  const added = [...Object.entries(named), ...Object.entries(traits ?? {})];
  if (added.length === 0) return properties;
  const merged: MessageFields = { ...properties };
  for (const [key, value] of added) {
    if (!Object.hasOwn(merged, key)) put(merged, key, value);
  }
  return merged;
}

/** Identifies the message in an error: `track "Order Completed"`. */
function label({ event, name }: MessageInput, { type }: MessageShape): string {
  const title = event ?? name;
  return typeof title === 'string' && title !== '' ? `${type} ${shownValue(title)}` : type;
}

function validationError({ path, sentence, got, hint }: Problem, about?: string): ValidationError {
  const suffix = about === undefined ? '' : ` (${about})`;
  return new ValidationError(`${sentence}, got ${got}${suffix}`, { path, got, hint });
}

/** Reads the value of one field. `spelling` is its name in the input. `isParsed` means that the value is from JSON.parse. */
function readField(kind: FieldKind, spelling: string, value: unknown, isParsed: boolean): Plain {
  const problem = fieldProblem(kind, spelling, value);
  if (problem !== undefined) return { ok: false, problem };
  if (kind === 'timestamp') return readTime(spelling, value);
  return isParsed ? { ok: true, value: value as JsonValue } : toPlain(value, spelling); // parsed from JSON
}

/** The problem of a field's value; undefined if it is valid. Timestamps are validated by `readTimestamp` instead. */
export function fieldProblem(kind: FieldKind, spelling: string, value: unknown): Problem | undefined {
  switch (kind) {
    case 'name':
    case 'id':
      if (typeof value === 'string' && value !== '') return undefined;
      return expected(spelling, 'to be a non-empty string', value, textHint(value));
    case 'text':
      if (typeof value === 'string') return undefined;
      return expected(spelling, 'to be a string', value, textHint(value));
    case 'object':
      return isFieldObject(value) ? undefined : expected(spelling, 'to be an object', value, OBJECT_HINT);
    case 'version':
      if (value === MESSAGE_VERSION) return undefined;
      return expected(spelling, `to be ${MESSAGE_VERSION}`, value, 'leave it out: it is added');
    case 'integrations':
      return integrationsProblem(spelling, value);
    case 'timestamp':
    case 'type':
    case 'any':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function readTime(spelling: string, value: unknown): Plain {
  const reading = readTimestamp(value);
  if (reading.ok) return { ok: true, value: reading.iso };
  return { ok: false, problem: expected(spelling, `to be ${reading.expected}`, value, reading.hint) };
}

function integrationsProblem(spelling: string, value: unknown): Problem | undefined {
  if (!isFieldObject(value)) return expected(spelling, 'to be an object', value, OBJECT_HINT);
  for (const [name, choice] of Object.entries(value)) {
    if (typeof choice === 'boolean' || isFieldObject(choice) || choice === undefined) continue;
    const hint = 'true sends to that destination, false does not';
    return problemAt([spelling, name], choice, { expected: 'true, false or an object', hint });
  }
  return undefined;
}

const OBJECT_HINT = 'write it as {"key":"value"}, or leave it out';

function expected(spelling: string, what: string, value: unknown, hint: string): Problem {
  return {
    path: formatPath([spelling]),
    sentence: `Expected \`${spelling}\` ${what}`,
    got: shownValue(value),
    hint,
  };
}

function textHint(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return `quote it: "${value}"`;
  return value === '' ? 'give it a value, or leave it out' : 'write it as text: "…"';
}

/** UTF-8 bytes of a message as JSON. Throws TypeError if JSON cannot represent it, which `buildMessage` rules out. */
export function messageBytes(message: object): number {
  return Buffer.byteLength(JSON.stringify(message));
}

/** Throws ValidationError if a caller's message, as JSON, has more than MAX_MESSAGE_BYTES. */
export function validateMessageSize(bytes: number): void {
  if (bytes <= MAX_MESSAGE_BYTES) return;
  throw new ValidationError(
    `Expected a message of at most ${formatCount(MAX_MESSAGE_BYTES)} bytes as JSON, got ${formatCount(bytes)}`,
    { path: '', got: `${formatCount(bytes)} bytes`, hint: 'send less in one message, or split it' },
  );
}
