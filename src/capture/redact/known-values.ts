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
const WORD = /[\p{L}\p{N}]+/gu;
const DIALED = /\+?\(?\d[\d ()./-]{5,22}\d/g;
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
  /** Makes the pseudonym only where the value is found, in the case that it has there. */
  readonly replacement: (found: string) => string;
}

/** Values of one message that its keys show to be personal, such as its user id, to find them in all of its texts. */
export class KnownValues {
  readonly #byFirstWord = new Map<string, readonly PersonalValue[]>();
  readonly #phones = new Map<string, PersonalValue>();
  #count = 0;

  /** Adds a value. Also adds the words of a name, and the part of an id after its prefix. `replace` makes the pseudonyms. */
  add(text: string, { kind }: PersonalKind, replace: (value: string) => string): void {
    const words = kind === 'name' ? text.split(/\s+/, 5) : [];
    const bare = kind === 'id' ? text.slice(publicPrefix(text).length) : '';
    for (const each of [text, ...(words.length > 1 && words.length < 5 ? words : []), bare]) {
      this.#add(each, kind, (found) => replace(/\d/.test(each) && !plainUuid(found) ? each : found));
    }
  }

  #add(text: string, kind: string, replacement: (value: string) => string): void {
    if (this.#count >= MOST_VALUES) return;
    const digits = text.replaceAll(/\D/g, '');
    if (kind === 'phone' && digits.length >= 7) {
      this.#count++;
      this.#phones.set(digits.slice(-DIGITS_OF_A_PHONE), {
        value: digits,
        kind,
        replacement: () => replacement(text),
      });
      return;
    }
    // A sign or @ in front is not always written.
    const [mark = ''] = /^[^\p{L}\p{N}]*/u.exec(text) ?? [];
    const value = spelled(text.slice(mark.length), kind);
    const isShort = value.length < (/^\d+$/.test(value) ? 5 : 3);
    if (isShort || SEARCHED[kind]?.test(value) === false) return;
    const withoutMark = (found: string): string => {
      const made = replacement(mark + found);
      return made.startsWith(mark) ? made.slice(mark.length) : made;
    };
    const uuid = plainUuid(value);
    for (const each of uuid === undefined ? [value] : [uuid, uuid.replaceAll('-', '')]) {
      this.#addSpelled({ value: each, kind, replacement: withoutMark });
    }
  }

  #addSpelled(added: PersonalValue): void {
    const first = added.value.match(WORD)?.[0].toLowerCase() ?? '';
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
      const others = this.#byFirstWord.get(word.toLowerCase());
      const found = others?.find((each) => isWordAt(text, each, index));
      if (found === undefined || (isEmail && !found.value.includes('@'))) continue;
      const end = index + found.value.length;
      yield { start: index, end, kind: found.kind, replacement: found.replacement(text.slice(index, end)) };
    }
  }

  *#phonesIn(text: string): Generator<RedactedSpan> {
    if (this.#phones.size === 0) return;
    for (const { 0: dialed, index } of text.matchAll(DIALED)) {
      const found = this.#phones.get(dialed.replaceAll(/\D/g, '').slice(-DIGITS_OF_A_PHONE));
      if (found === undefined) continue;
      const made = found.replacement(dialed).replace(/^\+/, '');
      const replacement = /^\d+$/.test(dialed) ? made : `+${made}`;
      yield { start: index, end: index + dialed.length, kind: found.kind, replacement };
    }
  }
}

/** The spelling in which two values of a kind are the same. Names of people and UUIDs are also written in other cases. */
function spelled(value: string, kind: string): string {
  if (kind === 'name' || kind === 'address') return value.toLowerCase();
  return plainUuid(value) === undefined ? value : value.toLowerCase();
}

/** Names that are also words: in lower case, they are the word. */
const PLAIN_WORDS =
  /^(?:will|may|mark|grace|hope|faith|joy|rose|bill|grant|price|gold|young|long|king|art|page|case|test|user|admin|guest|owner|system|name|first|last|full|june|april|summer|dean|rob|rich|chance|chase|star|sky|rain|brook|lake|wood|field|hill|stone|green|brown|white|black|gray|short|small|little|strong|sharp|wise|good|best|love|cook|day|week|bush|street|lane|park|church|bell|ball|bond|cash|coin|cross|fox|bird|fish|hunter|rice|cherry|apple|can|sun|moon|max|min|major|junior|senior|active|new|old|order|trial|and|the|for|not)$/;
/** Matches the area of a time zone in front of its city. */
const AREA =
  /(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/(?:\w+\/)?$/;

/** Whether a value is at a place of a text, and no part of a longer word or e-mail. */
function isWordAt(text: string, { value, kind }: PersonalValue, start: number): boolean {
  const end = start + value.length;
  const found = text.slice(start, end);
  if (spelled(found, kind) !== value) return false;
  if (kind === 'name' && (PLAIN_WORDS.test(found) || AREA.test(text.slice(0, start)))) return false;
  if (/^[\p{L}\p{N}]/u.test(text.slice(end, end + 2))) return false;
  return !value.includes('@') || !/[._+']$/.test(text.slice(0, start).slice(-1));
}
