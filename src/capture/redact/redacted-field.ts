import { joinedPath } from '../../message/path-pattern.ts';
import type { JsonPlace } from './json-tokens.ts';
import { BESIDE_A_NAME, FREE_TEXT, PERSONAL_KINDS } from './kinds.ts';
import type { KnownValues } from './known-values.ts';
import { keyWords, type PersonalKind } from './personal-kind.ts';

/** The number of keys, from the inside, that tell what a value is. */
const KEYS_THAT_TELL = 3;
const IS_FULL_NAME = /^\p{Lu}[\p{Ll}'-]+(?: \p{Lu}[\p{L}'.-]*)+$/u;
/** Words of keys that are not personal, also below a personal key: `phone: {type, primary}`. */
const PLAIN = keyWords(
  'type|kind|object|primary|verified|status|state|label|format|mime|algorithm|method|currency|country(?: ?code)?|created|updated|deleted|time ?stamp|time ?zone|\\S+ ?at|version|count|followers|size|width|height|length|source|provider|locale|language|unit|expires(?: ?in)?|scopes?|model|os|platform|enabled|required|visible|position|order|index',
);
/** Words of keys whose value belongs to the field that another text of the object names: `{name: "ssn", value}`. */
const VALUE = keyWords('value|ans(?:wer)?|text|input|response');

/** How to redact `name=value&…`. */
export interface FormOptions {
  readonly known?: KnownValues;
  /** Whether secrets are masked by their name, as in the query of a URL. @default false */
  readonly isQuery?: boolean;
  readonly path?: readonly string[];
}

/** A value, and what is known of its message. */
export interface RedactedField {
  readonly place: JsonPlace;
  readonly known: KnownValues;
}

/**
 * Finds the kind of personal data that the keys of a value name, the innermost first. A personal key makes all values below it
 * personal, except for those with a plain key.
 */
export function kindOfPlace({ named: place }: JsonPlace): PersonalKind | undefined {
  if (place === undefined) return undefined;
  if (place.kind === undefined) place.kind = findKind(place) ?? null;
  return place.kind ?? undefined;
}

function findKind(place: JsonPlace): PersonalKind | undefined {
  const words = wordsOfPlace(place);
  const own = kindOfWords(words) ?? kindBeside(place);
  if (own !== undefined || PLAIN.test(words)) return own;
  const outer = place.around && kindOfPlace(place.around);
  return outer?.isEntity ? undefined : outer;
}

/** The kind by the other keys and short texts of the same object. */
function kindBeside({ key, around, message }: JsonPlace): PersonalKind | undefined {
  if (around === undefined) return undefined;
  const words = wordsOf([key]);
  if (words === 'name' && !isPage(message)) {
    if (around.keys.some((other) => BESIDE_A_NAME.test(wordsOf([other])))) return kindOfWords('first name');
  }
  if (!VALUE.test(words)) return undefined;
  const names = around.texts.filter((other) => other.key !== key).map(({ text }) => wordsOf([text]));
  return names.map((name) => kindOfWords(name.replace(/^(?:your )?name$/, 'first name'))).find(Boolean);
}

/** Whether a message is of a page or screen, which has a name of its own. */
function isPage({ texts }: JsonPlace): boolean {
  return texts.some(({ key, text }) => key === 'type' && /^(?:page|screen)$/.test(text));
}

/** Whether the value is a name that the format of messages has, so that it is no place for a known value. */
export function isFixed({ named, message }: JsonPlace): boolean {
  if (named === undefined) return false;
  return (
    /^(?:type|event)$/.test(named.key) ||
    (named.key === 'name' && named.around === message && isPage(message))
  );
}

/** The words of the innermost keys: `traits first name`. */
function wordsOfPlace({ named }: JsonPlace): string {
  const keys: string[] = [];
  for (let at = named; at !== undefined && keys.length < KEYS_THAT_TELL; at = at.around?.named) {
    keys.push(at.key);
  }
  return wordsOf(keys.toReversed());
}

const MOST_CACHED = 10_000;
const kindsByWords = new Map<string, PersonalKind | undefined>();

/** Finds the kind that the words of a key name. */
function kindOfWords(words: string): PersonalKind | undefined {
  if (kindsByWords.has(words)) return kindsByWords.get(words);
  const plain = words.replace(/ ?\d+$/, '');
  const row = PERSONAL_KINDS.find(({ keys }) => keys !== undefined && (keys.test(words) || keys.test(plain)));
  if (kindsByWords.size > MOST_CACHED) kindsByWords.clear();
  kindsByWords.set(words, row);
  return row;
}

/** Whether a text is for people, so that it can hold names that no rule finds. */
export function isFreeText(text: string, place: JsonPlace): boolean {
  const words = wordsOfPlace(place);
  if (/(?:user agent|ua)$/.test(words)) return false;
  const count = text.split(/\s+/, 6).filter((word) => /\p{L}/u.test(word)).length;
  return (
    count >= 4 ||
    (count >= 2 && FREE_TEXT.test(words)) ||
    (/(?:^| )name$/.test(words) && IS_FULL_NAME.test(text))
  );
}

/** Whether a value has versions, which can look like addresses. */
export function hasVersions(place: JsonPlace): boolean {
  return /(?:version|user agent|ua|build)$/.test(wordsOfPlace(place));
}

export interface RedactionRules {
  /** Patterns of paths (`pathPattern`) whose values stay as they are. */
  readonly keep: readonly RegExp[];
  /** Patterns of paths whose values are removed. */
  readonly drop: readonly RegExp[];
  /** The patterns that matched a value of any request. */
  readonly used: Set<RegExp>;
}

/** Whether a pattern of --keep or --drop matches a path. */
export function isAt(rules: RedactionRules, name: 'keep' | 'drop', path: readonly string[]): boolean {
  if (rules[name].length === 0) return false;
  const joined = joinedPath(path);
  const matching = rules[name].filter((pattern) => pattern.test(joined));
  for (const pattern of matching) rules.used.add(pattern);
  return matching.length > 0;
}

/** Finds the kind that a key alone names. */
export function kindOfKey(key: string): PersonalKind | undefined {
  return kindOfWords(wordsOf([key]));
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
