import { createHmac, hash } from 'node:crypto';

const DIGITS = '0123456789';
const NOT_ZERO = '123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
/** Characters of tokens: no vowels, so that no words arise. */
const TOKEN = 'bcdfghjkmnpqrstvwxz23456789';
/** Matches a UUID, with its hyphens or without them. */
const UUID = /^(?=.*[a-f-])([\da-f]{8})(-?)([\da-f]{4})\2([\da-f]{4})\2([\da-f]{4})\2([\da-f]{12})$/;
/** Matches words before the random part of an id. After `_`, digits alone do not count: `jane_1987` can have a name. */
const PUBLIC_PREFIX =
  /^(?:[a-z]+_)+(?=[A-Za-z\d]{6,}$)(?=[A-Za-z]*\d+[A-Za-z])|^\$?[A-Za-z][\w.-]*(?:[:|]|:\/\/)(?:[A-Za-z]+[:/|])*(?=[\w-]{6,}$)(?=[\w-]*\d)/;
const WORD = /\p{L}[\p{L}\p{M}]*/gu;
const MOST_CACHED = 20_000;
const ROUNDS = 8;
/** Longer values become a token, because a half of their number must fit into one HMAC. */
const MOST_CHARACTERS = 64;
/** Number of texts of a shape from which two of them practically never get the same random number. */
const TOO_MANY_TO_MEET = 2n ** 64n;

/** Makes pseudonyms that depend on the value and the key alone. Without the key, none can be traced back to its value. */
export class Pseudonyms {
  readonly #key: Uint8Array;
  readonly #shapeKey = memoized((shape) => this.bytes('shape', shape).toString('hex'));

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  bytes(kind: string, value: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}\0${value}`).digest();
  }

  /** A whole number below `limit`. Even for a large limit all numbers are practically equally likely. */
  number(kind: string, value: string, limit: bigint): bigint {
    return BigInt(`0x${this.bytes(kind, value).toString('hex')}`) % limit;
  }

  /** A text of letters and digits. 16 of them have 76 bits, so that two values practically never share one. */
  token(kind: string, value: string, length = 16): string {
    const alphabets = Array.from({ length }, () => TOKEN);
    return written(this.number(kind, value, sizeOf(alphabets)), alphabets);
  }

  /**
   * A text of the same shape: a digit becomes a digit, a letter a letter of the same case; a UUID stays a UUID, a number a
   * number. Two values never share one, and no value is its own, even if it is as short as a number of one digit. In a text
   * without digits each word has its own pseudonym, so that a first name is the same in a full name.
   */
  readonly alike = memoized((text) => this.#alike(text));

  #alike(text: string): string {
    if (!/[\p{L}\p{N}]/u.test(text)) return text;
    if (text.length > MOST_CHARACTERS) return `redacted-${this.token('text', text)}`;
    if (!/\p{N}/u.test(text)) return text.normalize('NFC').replaceAll(WORD, (word) => this.#word(word));
    if (/[^ -~]/.test(text)) return `redacted-${this.token('text', text)}`;
    const uuid = plainUuid(text);
    if (uuid === undefined) return this.#permuted(text);
    const made = this.#permuted(uuid).replaceAll('-', text.includes('-') ? '-' : '');
    return /[A-F]/.test(text) ? made.toUpperCase() : made;
  }

  /** The pseudonym of a word in any case. */
  #word(word: string): string {
    const folded = word.toLowerCase();
    const isPlain = /^[a-z]+$/.test(folded);
    const alphabets = Array.from({ length: 12 }, () => TOKEN.slice(0, 19));
    const made = isPlain
      ? this.#permuted(folded)
      : written(this.number('word', folded, sizeOf(alphabets)), alphabets);
    if (word.length > 1 && word === word.toUpperCase() && word !== folded) return made.toUpperCase();
    return Array.from(made, (each, at) => (isUpper(word[at]) ? each.toUpperCase() : each)).join('');
  }

  #permuted(text: string): string {
    const alphabets = alphabetsOf(text);
    const size = sizeOf(alphabets);
    const shape = alphabets.join(' ');
    if (size >= TOO_MANY_TO_MEET) return written(this.number(shape, text, size), alphabets);
    const key = this.#shapeKey(shape);
    // A step along one long cycle that contains all texts of the shape: its order is the permutation.
    const next = (walk(numberOf(text, alphabets), { size, key, isBack: false }) + 1n) % size;
    return written(walk(next, { size, key, isBack: true }), alphabets);
  }
}

/** Caches the results of a function of a text, because the same texts occur often. */
export function memoized<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly made: T }>();
  return (text) => {
    const result = known.get(text) ?? { made: make(text) };
    if (known.size > MOST_CACHED) known.clear();
    known.set(text, result);
    return result.made;
  };
}

interface Permutation {
  /** Number of values. Below 2^64. */
  readonly size: bigint;
  readonly key: string;
  readonly isBack: boolean;
}

/** Permutes the numbers below `size`: repeats a permutation of a power of two until its result is small enough. */
function walk(start: bigint, permutation: Permutation): bigint {
  const bits = (permutation.size - 1n).toString(2).length;
  let at = start;
  do at = feistel(at, bits, permutation);
  while (at >= permutation.size);
  return at;
}

/** A Feistel network of 32 bits a half at most. Its rounds in reverse order undo it. */
function feistel(value: bigint, bits: number, { key, isBack }: Permutation): bigint {
  const lowBits = Math.floor(bits / 2);
  const split = 1n << BigInt(lowBits);
  let [high, low] = [Number(value / split), Number(value % split)];
  for (let index = 0; index < ROUNDS; index++) {
    const round = isBack ? ROUNDS - 1 - index : index;
    const digest = hash('sha256', `${key} ${round} ${round % 2 === 0 ? low : high}`, 'buffer').readUInt32BE(
      0,
    );
    if (round % 2 === 0) high = (high ^ (digest % 2 ** (bits - lowBits))) >>> 0;
    else low = (low ^ (digest % 2 ** lowBits)) >>> 0;
  }
  return BigInt(high) * split + BigInt(low);
}

/** The characters that may stand in each position of a text. A position with one character stays as it is. */
function alphabetsOf(text: string): readonly string[] {
  const isUuid = plainUuid(text) === text;
  const isHex = isUuid || (/^[\da-fA-F]{16,}$/.test(text) && /[a-fA-F]/.test(text) && isOfOneCase(text));
  const hex = /[A-F]/.test(text) ? `${DIGITS}ABCDEF` : `${DIGITS}abcdef`;
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text);
  const first = text.search(/\d/);
  return Array.from(text, (character, at) => {
    // Version and variant of a UUID.
    if (isUuid && (at === 14 || at === 19)) return character;
    if (isHex && character !== '-') return hex;
    // A negative number stays one: -0 is 0.
    const isLeading = isNumber && at === first && /^\d\d|^[1-9]$/.test(text.slice(at)) && text.length > 1;
    if (isLeading) return character === '0' ? character : NOT_ZERO;
    if (/\d/.test(character)) return DIGITS;
    if (/[a-z]/.test(character)) return LOWER;
    return /[A-Z]/.test(character) ? LOWER.toUpperCase() : character;
  });
}

/** The prefix of an id that names its service or its kind: `cus_`. Empty if there is none. */
export function publicPrefix(id: string): string {
  return PUBLIC_PREFIX.exec(id)?.[0] ?? '';
}

/** The spelling of a UUID in lower case and with its hyphens. Undefined if the text is none, or of mixed case. */
export function plainUuid(text: string): string | undefined {
  const parts = text.length < 32 || !isOfOneCase(text) ? null : UUID.exec(text.toLowerCase());
  return parts === null ? undefined : [parts[1], ...parts.slice(3)].join('-');
}

function isUpper(character = ''): boolean {
  return character !== character.toLowerCase();
}

function isOfOneCase(text: string): boolean {
  return text === text.toLowerCase() || text === text.toUpperCase();
}

function sizeOf(alphabets: readonly string[]): bigint {
  return alphabets.reduce((size, { length }) => size * BigInt(length), 1n);
}

function numberOf(text: string, alphabets: readonly string[]): bigint {
  return alphabets.reduce(
    (number, alphabet, at) => number * BigInt(alphabet.length) + BigInt(alphabet.indexOf(text[at] ?? '')),
    0n,
  );
}

function written(number: bigint, alphabets: readonly string[]): string {
  let rest = number;
  const characters = alphabets.toReversed().map((alphabet) => {
    const size = BigInt(alphabet.length);
    const character = alphabet[Number(rest % size)] ?? '';
    rest /= size;
    return character;
  });
  return characters.toReversed().join('');
}
