import { kindOf } from '../../../validate-options.ts';
import { ConfigError, InputError, ValidationError } from '../../../errors.ts';
import { readJson } from '../../../message/json/read-json.ts';
import { isJsonObject, type JsonObject, type JsonValue, type MessageType } from '../../../message/types.ts';
import { assignAll, mergeObjects } from './assignments.ts';
import { readFlagText, type FlagText } from './flag-text.ts';
import type { Io } from '../../io.ts';
import type { MessageFlags } from './message-flags.ts';

const SCALARS = [
  'userId',
  'anonymousId',
  'event',
  'name',
  'category',
  'groupId',
  'previousId',
  'timestamp',
  'messageId',
] as const satisfies readonly (keyof MessageFlags)[];

/** The flags; the text of `--json` may have been read, since standard input can be read once. */
export type ReadFlags = Omit<MessageFlags, 'json'> & { readonly json?: string | FlagText | undefined };

/** The message as the flags spell it, not yet checked: `--json` first, then whole maps, then single fields. */
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
  const scalars = SCALARS.map((name) => [name, flags[name]] as const);
  const given = [...scalars, ...Object.entries(maps)].filter(([, value]) => value !== undefined);
  return { ...withType(whole, type), ...respelled(whole, flags), ...Object.fromEntries(given) } as JsonObject; // undefined is filtered out
}

/** Adds the type. The message of `hooks send track --json …` may leave it out, not contradict it. */
function withType(whole: JsonObject, type: MessageType | undefined): JsonObject {
  if (type === undefined) return whole;
  if (whole['type'] !== undefined && whole['type'] !== type) {
    throw new ConfigError(
      `Expected \`--json\` to be ${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type} message, got type ${JSON.stringify(whole['type'])}`,
      {
        flag: '--json',
        hint: 'run hooks send --json, which takes the type from the message',
      },
    );
  }
  return { ...whole, type };
}

/** A flag overrides either spelling of an alias's ids, so an overridden id replaces the wire's spelling too. */
function respelled(whole: JsonObject, flags: ReadFlags): { [key: string]: JsonValue | undefined } {
  return {
    ...(flags.userId !== undefined && 'User ID' in whole ? { 'User ID': flags.userId } : {}),
    ...(flags.previousId !== undefined && 'Previous ID' in whole ? { 'Previous ID': flags.previousId } : {}),
  };
}

/** Reads `--context`, which takes words and, since scripts do that, whole JSON objects too: in any order, and the later wins. */
async function readContext(
  { context = [], contextJson }: ReadFlags,
  base: JsonValue | undefined,
  io: Io,
): Promise<JsonObject | undefined> {
  const whole = contextJson === undefined ? undefined : await readObject(contextJson, '--context-json', io);
  if (context.length === 0) return whole;
  // A whole context takes the place of that of --json; words change it.
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

/** The flags that set one word of a map, by the map. */
const WORD_FLAGS = { properties: 'property', traits: 'trait', integrations: 'integration' } as const;

async function readMap(
  map: keyof typeof WORD_FLAGS,
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
  throw new ConfigError(`Expected \`${flag}\` to be a JSON object, got ${kindOf(value)}`, {
    flag,
    hint: objectHint(flag, value),
  });
}

/** The flags that take JSON, and those that take words in its place. */
const FLAGS_OF_WORDS: Readonly<Record<string, string>> = {
  '--properties': '--property',
  '--traits': '--trait',
  '--integrations': '--integration',
  '--context-json': '--context',
};

/** Throws ConfigError for `a=1` where JSON is expected: the flag for words has nearly the same name. */
function rejectWords(text: string, flag: string): void {
  const forWords = FLAGS_OF_WORDS[flag];
  if (forWords === undefined || !/^[\w.-]+:?==?[^=]/.test(text)) return;
  throw new ConfigError(`Expected \`${flag}\` to be a JSON object, got words with an equals sign`, {
    flag,
    hint: `give them one by one with ${forWords} NAME=VALUE, or JSON: ${objectHint(flag, null).replace('give for example ', '')}`,
  });
}

function objectHint(flag: string, value: JsonValue): string {
  if (flag !== '--json') return `give for example ${flag} '{"plan":"pro"}' or ${flag} @file.json`;
  return Array.isArray(value)
    ? 'use hooks replay for a list: send takes one message'
    : `give for example --json '{"type":"track","event":"Signup"}' or --json @file.json`;
}

/** Reads JSON; the error about what JavaScript would lose names the flag or file. */
function readOriginJson(bytes: Uint8Array, origin: string): JsonValue {
  try {
    return readJson(bytes, { file: origin });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new InputError(error.message, { file: origin, hint: error.hint, cause: error });
  }
}
