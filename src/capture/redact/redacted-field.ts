import { joinedPath } from '../../message/path-pattern.ts';
import type { JsonPlace } from './json-tokens.ts';
import { BESIDE_A_NAME, FREE_TEXT, PERSONAL_KINDS } from './kinds.ts';
import type { KnownValues } from './known-values.ts';
import type { PersonalKind } from './personal-kind.ts';

/** The number of keys, from the inside, that tell what a value is. */
const KEYS_THAT_TELL = 3;
const IS_INDEX = /^\d+$/;
const IS_FULL_NAME = /^\p{Lu}[\p{Ll}'-]+(?: \p{Lu}[\p{L}'.-]*)+$/u;

/** A value and the keys around it. */
export interface RedactedField {
  /** Keys and indexes from the outermost value. */
  readonly path: readonly string[];
  /** The path in the message of a batch or list. */
  readonly inMessage: readonly string[];
  /** The innermost keys as words: `traits first name`. */
  readonly words: string;
  /** The keys of the object that has the value. */
  readonly beside: readonly string[];
  readonly known: KnownValues;
}

/** Makes the field of a path without other keys beside its own, such as the name of a header. */
export function fieldOfPath(path: readonly string[], known: KnownValues): RedactedField {
  const words = wordsOf(path.filter((key) => !IS_INDEX.test(key)).slice(-KEYS_THAT_TELL));
  return { path, inMessage: path, words, beside: [], known };
}

/** Makes the field of a value in JSON. `path` are the keys around the JSON. */
export function fieldOfPlace(place: JsonPlace, path: readonly string[], known: KnownValues): RedactedField {
  const keys: string[] = [];
  for (let at = place.named; at !== undefined && keys.length < KEYS_THAT_TELL; at = at.around?.named) {
    keys.push(at.key);
  }
  const missing = KEYS_THAT_TELL - keys.length;
  const outer = missing === 0 ? [] : path.filter((key) => !IS_INDEX.test(key)).slice(-missing);
  return {
    get path() {
      return [...path, ...place.path];
    },
    get inMessage() {
      return [...path, ...place.path.slice(place.message.path.length)];
    },
    words: wordsOf([...outer, ...keys.toReversed()]),
    beside: place.named?.around?.keys ?? [],
    known,
  };
}

/** Finds the kind of personal data that the keys of a field name. */
export function kindOfField({ words, beside }: RedactedField): PersonalKind | undefined {
  const row = kindOfWords(words);
  if (row !== undefined || !/(?:^| )name$/.test(words)) return row;
  return beside.some((key) => BESIDE_A_NAME.test(wordsOf([key]))) ? kindOfWords('first name') : undefined;
}

const MOST_CACHED = 10_000;
const kindsByWords = new Map<string, PersonalKind | undefined>();

function kindOfWords(words: string): PersonalKind | undefined {
  if (kindsByWords.has(words)) return kindsByWords.get(words);
  const plain = words.replace(/ ?\d+$/, '');
  const row = PERSONAL_KINDS.find(({ keys }) => keys !== undefined && (keys.test(words) || keys.test(plain)));
  if (kindsByWords.size > MOST_CACHED) kindsByWords.clear();
  kindsByWords.set(words, row);
  return row;
}

/** Whether a text is for people, so that it can hold names that no rule finds. */
export function isFreeText(text: string, { words }: RedactedField): boolean {
  if (/(?:user agent|ua)$/.test(words)) return false;
  const count = text.split(/\s+/, 6).filter((word) => /\p{L}/u.test(word)).length;
  return (
    count >= 4 ||
    (count >= 2 && FREE_TEXT.test(words)) ||
    (/(?:^| )name$/.test(words) && IS_FULL_NAME.test(text))
  );
}

/** Whether a value has versions, which can look like addresses. */
export function hasVersions({ words }: RedactedField): boolean {
  return /(?:version|user agent|ua|build)$/.test(words);
}

/** Whether a pattern of --keep or --drop matches a path. */
export function isAt(patterns: readonly RegExp[], path: readonly string[]): boolean {
  if (patterns.length === 0) return false;
  const joined = joinedPath(path);
  return patterns.some((pattern) => pattern.test(joined));
}

const knownWords = new Map<string, string>();

/** Splits keys into words: `firstName`, `first_name` and `first-name` are `first name`. */
function wordsOf(keys: readonly string[]): string {
  return keys.map((key) => knownWords.get(key) ?? wordsOfKey(key)).join(' ');
}

function wordsOfKey(key: string): string {
  const words = key
    .slice(-100)
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
  if (knownWords.size > MOST_CACHED) knownWords.clear();
  knownWords.set(key, words);
  return words;
}
