import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** The most characters of a name. */
const MAX_NAME_LENGTH = 200;

/**
 * The name of the trait that an audience is sent as: `High-Value Users (US)` is `high_value_users_us`. The words are cut as
 * Segment does: a word is capitals and digits, then small letters and digits, so `topBuyers30d` is `top_buyers30d` and
 * `VIPUsers` is `vipusers`. Where Segment drops what is not ASCII, Latin letters lose their accents here and letters of
 * other scripts stay. Throws ConfigError for a name of which nothing is left.
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

/** Latin without accents, full-width and other compatibility forms as the plain ones. Marks of other scripts are vowels, and stay. */
function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/(?<=\p{Script=Latin})\p{M}+|(?<![\p{L}\p{M}])\p{M}+/gu, '')
    .replace(UNDECOMPOSED, (letter) => SPELLED_OUT[letter] ?? letter)
    .normalize('NFC');
}

/** Latin letters that Unicode does not decompose. */
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
    { key: 'name', hint: 'the name of the trait is made of its letters and digits: VIP Users is vip_users' },
  );
}

function tooLong(name: string): ConfigError {
  return new ConfigError(
    `Expected a name of at most ${MAX_NAME_LENGTH} characters, got ${name.length}: ${printable(name, 60)}`,
    { key: 'name', hint: 'is a file given in the place of the name?' },
  );
}
