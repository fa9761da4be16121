import { memoized, type Pseudonyms } from './pseudonyms.ts';

/** The kind of thing that an object describes. Values of people and means of payment are personal unless shown otherwise. */
export type SubjectKind = 'person' | 'payment' | 'organization' | 'thing';

/** One kind of personal data, which is found by the key of a value, by the key in a person, or by its format. */
export interface PersonalKind {
  readonly kind: string;
  /** Matches the words of a key, such as `first name`, at their end. */
  readonly keys?: RegExp;
  /** Matches the words of a key in an object that describes a person, and behind a word for a person: `customer id`. */
  readonly inPerson?: RegExp;
  /** Matches values for which the key tells enough. @default all */
  readonly fits?: RegExp;
  /** Matches values inside of a text. */
  readonly format?: RegExp;
  /** Returns the part of a match that is a value, such as a number whose check digit is right. @default the match */
  readonly accept?: (match: string) => string | undefined;
  /** Whether the value, once found by its key, is replaced in all other texts of the same message. */
  readonly spreads?: true;
  /** Whether the keys name people or things that have other values too, so that not all values below are of the kind. */
  readonly isEntity?: true;
  /** @default a text of the same shape */
  readonly replace?: (value: string, pseudonyms: Pseudonyms) => string;
}

/** Matches one of the words, separated by `|`, at the end of the words of keys. */
export function keyWords(words: string, plural = 's?'): RegExp {
  return new RegExp(`(?:^| )(?:${words})${plural}$`, 'u');
}

/** Prefixes and suffixes that tools add to the names of fields: `SSN__c`, `custom_email`, `q3_name`, `your-name`. */
const NOISE = /^(?:(?:custom|cf|q\d+|your) )+(?=.)|(?<=.) c$/g;
/** Splits a key into words: `firstName`, `first_name` and `first-name` are `first name`. */
export const wordsOfKey = memoized((key: string): string =>
  key
    .slice(-100)
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
    .replaceAll(NOISE, ''),
);
