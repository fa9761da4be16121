import { kindOf } from '../../../validate-options.ts';
import { InputError, ValidationError } from '../../../errors.ts';
import { readJson } from '../../../message/json/read-json.ts';
import { isJsonObject, type JsonObject, type JsonValue, type MessageType } from '../../../message/types.ts';
import { assignAll, mergeObjects } from './assignments.ts';
import { readFlagText, type FlagText } from './flag-text.ts';
import type { Io } from '../../io.ts';
import { flagError } from '../flag-values.ts';
import { FIELD_FLAGS, type MessageFlags } from './message-flags.ts';

/** The flags of a message. `json` can be a text that is read already, because standard input can be read only once. */
export type ReadFlags = Omit<MessageFlags, 'json'> & { readonly json?: string | FlagText | undefined };

/** Returns the message that the flags give, not yet validated. The flags of maps and of single fields override `--json`. */
export async function messageInput(
  flags: ReadFlags,
  type: MessageType | undefined,
  io: Io,
): Promise<JsonObject> {
  const whole = flags.json === undefined ? {} : await readObject(flags.json, '--json', io);
  const input = { flags, whole, io };
  const maps = {
    properties: await readMap('properties', input),
    traits: await readMap('traits', input),
    context: await readContext(flags, whole['context'], io),
    integrations: await readMap('integrations', input),
  };
  const fields = FIELD_FLAGS.map((name) => [name, flags[name]] as const);
  const given = [...fields, ...Object.entries(maps)].filter(([, value]) => value !== undefined);
  return { ...withType(whole, type), ...respelled(whole, flags), ...Object.fromEntries(given) } as JsonObject; // undefined is filtered out
}

/** Adds the type to a message. Throws ConfigError if the message of `hooks send track --json …` has another one. */
function withType(whole: JsonObject, type: MessageType | undefined): JsonObject {
  if (type === undefined) return whole;
  if (whole['type'] !== undefined && whole['type'] !== type) {
    const expected = `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type} message`;
    const sentence = `Expected \`--json\` to be ${expected}, got type ${JSON.stringify(whole['type'])}`;
    throw flagError('--json', sentence, 'run hooks send --json, which takes the type from the message');
  }
  return { ...whole, type };
}

/** Returns the ids that flags override in an alias, under their names on the wire (`User ID`) if `--json` has those. */
function respelled(whole: JsonObject, flags: ReadFlags): { [key: string]: JsonValue | undefined } {
  return {
    ...(flags.userId !== undefined && 'User ID' in whole ? { 'User ID': flags.userId } : {}),
    ...(flags.previousId !== undefined && 'Previous ID' in whole ? { 'Previous ID': flags.previousId } : {}),
  };
}

/** Reads the context. `--context` takes words and, as scripts use it, whole JSON objects, in any order; later ones win. */
async function readContext(
  { context = [], contextJson }: ReadFlags,
  base: JsonValue | undefined,
  io: Io,
): Promise<JsonObject | undefined> {
  const whole = contextJson === undefined ? undefined : await readObject(contextJson, '--context-json', io);
  if (context.length === 0) return whole;
  // A JSON object in --context replaces the context of --json; words such as `ip=1.2.3.4` change that context.
  const isBaseKept = whole === undefined && isJsonObject(base) && !context.some(isWhole);
  let result = whole ?? (isBaseKept ? base : {});
  for (const word of context) {
    result = isWhole(word)
      ? mergeObjects(result, await readObject(word, '--context', io))
      : assignAll([word], '--context', result);
  }
  return result;
}

function isWhole(word: string): boolean {
  return word.trimStart().startsWith('{');
}

/** Flags that set single values of a map (`--property a=1`), by the flag that sets the whole map (`--properties JSON`). */
const WORD_FLAGS = {
  properties: 'property',
  traits: 'trait',
  integrations: 'integration',
  'context-json': 'context',
} as const;

async function readMap(
  map: Exclude<keyof typeof WORD_FLAGS, 'context-json'>,
  { flags, whole, io }: { readonly flags: ReadFlags; readonly whole: JsonObject; readonly io: Io },
): Promise<JsonObject | undefined> {
  const wordFlag = WORD_FLAGS[map];
  const [text, words] = [flags[map], flags[wordFlag]];
  const given = text === undefined ? undefined : await readObject(text, `--${map}`, io);
  if (words === undefined || words.length === 0) return given;
  const base = whole[map];
  return assignAll(words, `--${wordFlag}`, given ?? (isJsonObject(base) ? base : {}));
}

async function readObject(given: string | FlagText, flag: string, io: Io): Promise<JsonObject> {
  const { bytes, origin } = typeof given === 'string' ? await readFlagText(given, flag, io) : given;
  if (typeof given === 'string') rejectWords(given, flag);
  const value = readOriginJson(bytes, origin);
  if (isJsonObject(value)) return value;
  const sentence = `Expected \`${flag}\` to be a JSON object, got ${kindOf(value)}`;
  throw flagError(flag, sentence, objectHint(flag, value));
}

/** Throws ConfigError for `a=1` instead of JSON, because the flag for single values has nearly the same name. */
function rejectWords(text: string, flag: string): void {
  const [, wordFlag] = Object.entries(WORD_FLAGS).find(([map]) => flag === `--${map}`) ?? [];
  if (wordFlag === undefined || !/^[\w.-]+:?==?[^=]/.test(text)) return;
  const json = objectHint(flag, null).replace('give for example ', '');
  const hint = `give them one by one with --${wordFlag} NAME=VALUE, or JSON: ${json}`;
  throw flagError(flag, `Expected \`${flag}\` to be a JSON object, got words with an equals sign`, hint);
}

function objectHint(flag: string, value: JsonValue): string {
  if (flag !== '--json') return `give for example ${flag} '{"plan":"pro"}' or ${flag} @file.json`;
  return Array.isArray(value)
    ? 'use hooks replay for a list: send takes one message'
    : `give for example --json '{"type":"track","event":"Signup"}' or --json @file.json`;
}

/** Parses JSON. The error about values that JavaScript would change names the flag or file. */
function readOriginJson(bytes: Uint8Array, origin: string): JsonValue {
  try {
    return readJson(bytes, { file: origin });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new InputError(error.message, { file: origin, hint: error.hint, cause: error });
  }
}
