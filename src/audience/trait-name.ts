import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** Maximum length of the name of an audience or a computed trait. */
const MAX_NAME_LENGTH = 200;

/**
 * Returns the name of the trait of an audience: `High-Value Users (US)` becomes `high_value_users_us`. Splits words like
 * Segment: a word is capitals and digits, then small letters and digits, so `topBuyers30d` becomes `top_buyers30d` and
 * `VIPUsers` becomes `vipusers`. Segment drops non-ASCII characters. Here, Latin letters lose their accents, and letters of
 * other scripts stay. Throws ConfigError if no character is left.
 */
export function traitNameOf(name: string): string {
  if (name.length > MAX_NAME_LENGTH) throw tooLong(name);
  const words = folded(name).match(WORD) ?? [];
  const trait = words.map((word) => word.toLowerCase()).join('_');
  if (trait === '') throw nothingLeft(name);
  return trait;
}

const SMALL = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{Nd}\p{Nl}]`;
const CAPITAL = String.raw`[\p{Lu}\p{Lt}\p{Nd}\p{Nl}]`;
const WORD = new RegExp(`${CAPITAL}*${SMALL}+|${CAPITAL}+`, 'gu');

/**
 * Removes accents of Latin letters, and normalizes full-width and other compatibility forms. Keeps marks of other scripts,
 * which are vowels.
 */
function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/(?<=\p{Script=Latin})\p{M}+|(?<![\p{L}\p{M}])\p{M}+/gu, '')
    .replace(UNDECOMPOSED, (letter) => SPELLED_OUT[letter] ?? letter)
    .normalize('NFC');
}

/** Latin letters that Unicode does not decompose, and the letters to write instead. */
const SPELLED_OUT: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'TH',
  ı: 'i',
};
const UNDECOMPOSED = new RegExp(`[${Object.keys(SPELLED_OUT).join('')}]`, 'g');

function nothingLeft(name: string): ConfigError {
  return new ConfigError(
    `Expected a name with at least one letter or digit, got ${printable(JSON.stringify(name))}`,
    {
      key: 'name',
      hint: 'the name of the trait is made of its letters and digits: VIP Users becomes vip_users',
    },
  );
}

function tooLong(name: string): ConfigError {
  return new ConfigError(
    `Expected a name of at most ${MAX_NAME_LENGTH} characters, got ${name.length}: ${printable(name, 60)}`,
    { key: 'name', hint: 'is this a file instead of a name?' },
  );
}
