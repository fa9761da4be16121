import type { PersonalKind } from './personal-kind.ts';
import { plainUuid, publicPrefix } from './pseudonyms.ts';

/** A part of a text to replace. */
export interface RedactedSpan {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly replacement: string;
}

/** More values than a message has. Each costs time in every text. */
const MOST_VALUES = 1_000;
const MOST_OF_A_WORD = 50;
/** Characters of scripts without spaces between words: each can begin a name, and other letters can follow a name. */
const DENSE = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}`;
const WORD = new RegExp(String.raw`[${DENSE}]|(?:(?![${DENSE}])[\p{L}\p{M}\p{N}])+`, 'gu');
/** Matches names of two letters that are searched for. Others, such as initials, look like codes. */
const SHORT_NAME = new RegExp(String.raw`^(?:\p{Lu}\p{Ll}|[${DENSE}]{2})$`, 'u');
/** Separates the words of a name: `Schmidt-Roth, Anna J.` has four. */
const BETWEEN_NAMES = /[\s,;]+|\.(?=\s|$)|-(?=\p{Lu})/u;
const DIALED = /\+?\(?\d(?:[ ()./-]{0,3}\d){6,16}/g;
/** Matches values that texts can be searched for. A short word or number under a key for secrets or places is in many texts. */
const SEARCHED: Readonly<Record<string, RegExp>> = {
  token: /^(?=.*\d).{6}|^.{12}/,
  location: /^\d{1,3}\.\d{4,}$/,
};
/** Number of digits at the end of a phone number that are the same with and without its country code. */
const DIGITS_OF_A_PHONE = 9;

interface PersonalValue {
  readonly value: string;
  readonly kind: string;
  /** Matches the value as a whole word at a position of a text. */
  readonly pattern: RegExp;
  /** Makes the pseudonym only where the value is found, in the case that it has there. */
  readonly replacement: (found: string) => string;
}

/** Values of one message that its keys show to be personal, such as its user id, to find them in all of its texts. */
export class KnownValues {
  readonly #byFirstWord = new Map<string, readonly PersonalValue[]>();
  /** Makes the pseudonym of a phone number, by its last digits. */
  readonly #phones = new Map<string, () => string>();
  #count = 0;

  /** Adds a value. Also adds the words of a name, and the part of an id after its prefix. `replace` makes the pseudonyms. */
  add(text: string, { kind }: PersonalKind, replace: (value: string) => string): void {
    const isName = kind === 'name' && text.split(/\s+/, 5).length < 5;
    const words = isName ? text.split(BETWEEN_NAMES) : [];
    const bare = kind === 'id' ? text.slice(publicPrefix(text).length) : '';
    for (const each of [text, ...words, bare]) {
      this.#add(each, kind, (found) => replace(/\d/.test(each) && !plainUuid(found) ? each : found));
    }
  }

  #add(text: string, kind: string, replacement: (value: string) => string): void {
    if (this.#count >= MOST_VALUES) return;
    const digits = text.replaceAll(/\D/g, '');
    if (kind === 'phone' && digits.length >= 7) {
      this.#count++;
      this.#phones.set(digits.slice(-DIGITS_OF_A_PHONE), () => replacement(text));
      return;
    }
    // A sign or @ in front is not always written.
    const [mark = ''] = /^[^\p{L}\p{N}]*/u.exec(text) ?? [];
    const bare = text.slice(mark.length);
    const isInAnyCase = kind === 'name' || kind === 'address' || plainUuid(bare) !== undefined;
    const value = isInAnyCase ? bare.toLowerCase() : bare;
    const isShort =
      value.length < (/^\d+$/.test(value) ? 5 : 3) && !(kind === 'name' && SHORT_NAME.test(bare));
    if (isShort || SEARCHED[kind]?.test(value) === false) return;
    const withoutMark = (found: string): string => {
      const made = replacement(mark + found);
      return made.startsWith(mark) ? made.slice(mark.length) : made;
    };
    const uuid = plainUuid(value);
    for (const each of uuid === undefined ? [value] : [uuid, uuid.replaceAll('-', '')]) {
      const pattern = patternOf(each, isInAnyCase ? 'iuy' : 'uy');
      this.#addSpelled({ value: each, kind, pattern, replacement: withoutMark });
    }
  }

  #addSpelled(added: PersonalValue): void {
    const first = firstWord(added.value);
    const others = this.#byFirstWord.get(first) ?? [];
    if (others.length >= MOST_OF_A_WORD || others.some((other) => other.value === added.value)) return;
    this.#count++;
    this.#byFirstWord.set(
      first,
      [...others, added].toSorted((one, other) => other.value.length - one.value.length),
    );
  }

  /** Finds the values in a text where they are whole words; with `isEmail`, only e-mails, which can stand inside of ids. */
  *spansIn(text: string, isEmail = false): Generator<RedactedSpan> {
    if (this.#count === 0 || (isEmail && !text.includes('@'))) return;
    if (!isEmail) yield* this.#phonesIn(text);
    for (const { 0: word, index } of text.matchAll(WORD)) {
      for (const known of this.#byFirstWord.get(firstWord(word)) ?? []) {
        const found = wordAt(text, known, index);
        if (found === undefined || (isEmail && !known.value.includes('@'))) continue;
        const { kind, replacement } = known;
        yield { start: index, end: index + found.length, kind, replacement: replacement(found) };
        break;
      }
    }
  }

  *#phonesIn(text: string): Generator<RedactedSpan> {
    if (this.#phones.size === 0) return;
    for (const { 0: dialed, index } of text.matchAll(DIALED)) {
      const found = this.#phones.get(dialed.replaceAll(/\D/g, '').slice(-DIGITS_OF_A_PHONE));
      if (found === undefined) continue;
      const made = found().replace(/^\+/, '');
      const replacement = /^\d+$/.test(dialed) ? made : `+${made}`;
      yield { start: index, end: index + dialed.length, kind: 'phone', replacement };
    }
  }
}

/** The start of a value or a word, by which values are found however their accents are written. */
function firstWord(text: string): string {
  return text.normalize('NFD').match(WORD)?.[0].toLowerCase() ?? '';
}

/** Matches a value with composed or decomposed accents, any apostrophe, and a hyphen or a space between words. */
function patternOf(value: string, flags: string): RegExp {
  const characters = Array.from(value.normalize('NFC'), (each) => {
    if (/['’ʼ]/.test(each)) return `['’ʼ]`;
    if (/[\s-]/.test(each)) return String.raw`[\s-]`;
    const apart = each.normalize('NFD');
    return apart === each ? each.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`) : `(?:${each}|${apart})`;
  });
  return new RegExp(String.raw`${characters.join('')}(?:(?<=[${DENSE}])|(?![\p{L}\p{M}\p{N}]))`, flags);
}

/** Names that are also words: in lower case, they are the word. A word of two letters is one in any case. */
const PLAIN_WORDS =
  /^(?:\p{Ll}{2}|A[mnst]|B[ey]|D[aeior]|El|Go|He|I[fnst]|[JMS]r|L[ae]|M[esy]|No|O[fhnr]|So|To|Up|Us|We|will|may|mark|grace|hope|faith|joy|rose|bill|grant|price|gold|young|long|king|art|page|case|test|user|admin|guest|owner|system|name|first|last|full|june|april|summer|dean|rob|rich|chance|chase|star|sky|rain|brook|lake|wood|field|hill|stone|green|brown|white|black|gray|short|small|little|strong|sharp|wise|good|best|love|cook|day|week|bush|street|lane|park|church|bell|ball|bond|cash|coin|cross|fox|bird|fish|hunter|rice|cherry|apple|can|sun|moon|max|min|major|junior|senior|active|new|old|order|trial|and|the|for|not|van|von|der|den|del|des|dos|bin)$/u;
/** Matches the area of a time zone in front of its city. */
const AREA =
  /(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/(?:\w+\/)?$/;

/** Returns a value where it is at a place of a text as a word, and no part of a longer word or e-mail. */
function wordAt(text: string, { value, kind, pattern }: PersonalValue, start: number): string | undefined {
  pattern.lastIndex = start;
  const found = pattern.exec(text)?.[0];
  if (found === undefined || (value.includes('@') && /[._+']/.test(text[start - 1] ?? ''))) return undefined;
  const isPlain = kind === 'name' && (PLAIN_WORDS.test(found) || AREA.test(text.slice(0, start)));
  return isPlain ? undefined : found;
}
