import type { PersonalKind } from './personal-kind.ts';

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

  add(text: string, { kind }: PersonalKind, replacement: (value: string) => string): void {
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
    // A plain word is no secret that a text can be searched for.
    if (
      isShort ||
      (kind === 'token' && !/^(?=.*\d).{6}|^.{12}/.test(value)) ||
      (kind === 'location' && !/^\d{1,3}\.\d{4,}$/.test(value))
    )
      return;
    const first = value.match(WORD)?.[0].toLowerCase() ?? '';
    const others = this.#byFirstWord.get(first) ?? [];
    if (others.length >= MOST_OF_A_WORD || others.some((other) => other.value === value)) return;
    this.#count++;
    const withoutMark = (found: string): string => {
      const made = replacement(mark + found);
      return made.startsWith(mark) ? made.slice(mark.length) : made;
    };
    const all = [...others, { value, kind, replacement: withoutMark }];
    this.#byFirstWord.set(
      first,
      all.toSorted((one, other) => other.value.length - one.value.length),
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
      const made = found.replacement(dialed);
      const replacement = /^\d+$/.test(dialed) ? made.replace(/^\+/, '') : made;
      yield { start: index, end: index + dialed.length, kind: found.kind, replacement };
    }
  }
}

/** The spelling in which two values of a kind are the same. The names of people are also written in other cases. */
function spelled(value: string, kind: string): string {
  return kind === 'name' || kind === 'address' ? value.toLowerCase() : value;
}

/** Whether a value is at a place of a text, and no part of a longer word or e-mail. */
function isWordAt(text: string, { value, kind }: PersonalValue, start: number): boolean {
  const end = start + value.length;
  if (spelled(text.slice(start, end), kind) !== value) return false;
  if (/^[\p{L}\p{N}]/u.test(text.slice(end, end + 2))) return false;
  return !value.includes('@') || !/[._+']$/.test(text.slice(0, start).slice(-1));
}
