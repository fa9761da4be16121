import { InputError } from '../../errors.ts';
import type { JsonValue } from '../../message/types.ts';
import { printable } from '../../redact.ts';
import { MEMBER_TAB, writeEntry } from '../entry.ts';
import type { Spill } from '../spill.ts';

/** UTF-8 bytes. What is longer is no id, and the message has to stay below its limit. */
const MAX_ID_BYTES = 2_048;
const MAX_VALUE_BYTES = 16_384;

/** Where the entries of an input go. */
export class MemberTarget {
  readonly kind: 'audience' | 'trait';
  readonly file: string;
  readonly spill: Spill;

  constructor({ kind, file, spill }: Pick<MemberTarget, 'kind' | 'file' | 'spill'>) {
    this.kind = kind;
    this.file = file;
    this.spill = spill;
  }

  /** Throws InputError for what is no id, or too long. */
  add(userId: string, value: JsonValue, line?: number): void {
    // A caller from JavaScript may pass any value.
    if (typeof userId !== 'string' || userId === '') {
      throw this.problem(line, `Expected a user id, got ${userId === '' ? 'an empty text' : typeof userId}`);
    }
    if (/\p{Surrogate}/u.test(userId)) {
      throw this.problem(line, 'Expected a user id in Unicode, got half of a surrogate pair');
    }
    this.validateId(Buffer.byteLength(userId), line);
    const bytes = Buffer.from(writeEntry({ userId, value }, this.kind));
    if (this.kind === 'trait') this.#validateValue(bytes.length - bytes.indexOf(MEMBER_TAB) - 1, line);
    this.spill.add(bytes, 0, bytes.length);
  }

  validateId(bytes: number, line?: number): void {
    if (bytes <= MAX_ID_BYTES) return;
    throw this.problem(line, `Expected a user id of at most ${MAX_ID_BYTES} bytes, got ${bytes}`);
  }

  #validateValue(bytes: number, line: number | undefined): void {
    if (bytes <= MAX_VALUE_BYTES) return;
    throw this.problem(line, `Expected a value of at most ${MAX_VALUE_BYTES} bytes as JSON, got ${bytes}`);
  }

  problem(line: number | undefined, message: string, hint?: string): InputError {
    return new InputError(printable(message, 300), {
      file: this.file,
      ...(line !== undefined && { line }),
      hint: hint ?? 'fix it; nothing was sent, since a line left out would be a user who left',
    });
  }
}

/** Reads an input piece by piece. */
export interface LineReader {
  /** Whole lines. */
  take(lines: Buffer): void | Promise<void>;
  /** Called when there are no more. */
  end(): void | Promise<void>;
}

const BLANK = 0x20;

/**
 * Removes the blanks and controls around an id. Other spaces, such as U+00A0, are a part of an id: the readers of bytes do not
 * know them, and one id must not depend on which of the readers its line comes to.
 */
export function trimmedId(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && text.charCodeAt(from) <= BLANK) from++;
  while (to > from && text.charCodeAt(to - 1) <= BLANK) to--;
  return text.slice(from, to);
}
