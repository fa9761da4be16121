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

/** Values of one message that its keys show to be personal, such as its user id, to find them in all of its texts. */
export class KnownValues {
  readonly #byFirstWord = new Map<
    string,
    { readonly value: string; readonly span: Pick<RedactedSpan, 'kind' | 'replacement'> }[]
  >();
  #count = 0;

  add(value: string, { kind }: PersonalKind, replacement: string): void {
    const first = value.match(WORD)?.[0] ?? '';
    const isShort = value.length < (/^\d+$/.test(value) ? 5 : 3);
    if (isShort || !value.startsWith(first) || this.#count >= MOST_VALUES) return;
    const others = this.#byFirstWord.get(first) ?? [];
    if (others.length >= MOST_OF_A_WORD || others.some((other) => other.value === value)) return;
    this.#count++;
    const all = [...others, { value, span: { kind, replacement } }];
    this.#byFirstWord.set(
      first,
      all.toSorted((one, other) => other.value.length - one.value.length),
    );
  }

  /** Finds the values in a text where they are whole words. */
  *spansIn(text: string): Generator<RedactedSpan> {
    if (this.#count === 0) return;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const found = this.#byFirstWord
        .get(word)
        ?.find(
          ({ value }) =>
            text.startsWith(value, index) &&
            !/^[\p{L}\p{N}]/u.test(text.slice(index + value.length, index + value.length + 2)),
        );
      if (found !== undefined) yield { start: index, end: index + found.value.length, ...found.span };
    }
  }
}
