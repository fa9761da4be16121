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

interface PersonalValue {
  readonly value: string;
  readonly kind: string;
  /** Makes the pseudonym only where the value is found. */
  readonly replacement: () => string;
}

/** Values of one message that its keys show to be personal, such as its user id, to find them in all of its texts. */
export class KnownValues {
  readonly #byFirstWord = new Map<string, readonly PersonalValue[]>();
  #count = 0;

  add(value: string, { kind }: PersonalKind, replacement: () => string): void {
    const first = value.match(WORD)?.[0] ?? '';
    const isShort = value.length < (/^\d+$/.test(value) ? 5 : 3);
    if (isShort || !value.startsWith(first) || this.#count >= MOST_VALUES) return;
    const others = this.#byFirstWord.get(first) ?? [];
    if (others.length >= MOST_OF_A_WORD || others.some((other) => other.value === value)) return;
    this.#count++;
    const all = [...others, { value, kind, replacement }];
    this.#byFirstWord.set(
      first,
      all.toSorted((one, other) => other.value.length - one.value.length),
    );
  }

  /** Finds the values in a text where they are whole words; with `isEmail`, only e-mails, which can stand inside of ids. */
  *spansIn(text: string, isEmail = false): Generator<RedactedSpan> {
    if (this.#count === 0 || (isEmail && !text.includes('@'))) return;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const found = this.#byFirstWord.get(word)?.find(({ value }) => isWordAt(text, value, index));
      if (found === undefined || (isEmail && !found.value.includes('@'))) continue;
      const { value, kind, replacement } = found;
      yield { start: index, end: index + value.length, kind, replacement: replacement() };
    }
  }
}

/** Whether a value is at a place of a text, and no part of a longer word or e-mail. */
function isWordAt(text: string, value: string, start: number): boolean {
  if (!text.startsWith(value, start)) return false;
  const end = start + value.length;
  if (/^[\p{L}\p{N}]/u.test(text.slice(end, end + 2))) return false;
  return !value.includes('@') || !/[._+']$/.test(text.slice(0, start).slice(-1));
}
