import type { Pseudonyms } from './pseudonyms.ts';

/** One kind of personal data. A row without `keys` is found by its format only, a row without `format` by keys only. */
export interface PersonalKind {
  readonly kind: string;
  /** Matches the words of a key and of the keys around it, such as `traits first name`, at their end. */
  readonly keys?: RegExp;
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
