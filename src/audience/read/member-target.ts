import { InputError } from '../../errors.ts';
import type { JsonValue } from '../../message/types.ts';
import { printable } from '../../redact.ts';
import { MEMBER_TAB, writeEntry } from '../entry.ts';
import type { Spill } from '../spill.ts';
import type { AudienceKind } from '../store.ts';

/** Maximum UTF-8 bytes of an id, because a message with the id must stay below the size limit of messages. */
const MAX_ID_BYTES = 2_048;
const MAX_VALUE_BYTES = 16_384;

/** Validates the entries of an input, and adds them to the spill. */
export class MemberTarget {
  readonly kind: AudienceKind;
  readonly file: string;
  readonly spill: Spill;

  constructor({ kind, file, spill }: Pick<MemberTarget, 'kind' | 'file' | 'spill'>) {
    this.kind = kind;
    this.file = file;
    this.spill = spill;
  }

  /** Adds an entry. Throws InputError if the id is invalid, or the id or the value is too long. */
  add(userId: string, value: JsonValue, line?: number): void {
    // JavaScript callers can pass any value.
    if (typeof userId !== 'string' || userId === '') {
      throw this.problem(line, `Expected a user id, got ${userId === '' ? 'an empty text' : typeof userId}`);
    }
    if (/\p{Surrogate}/u.test(userId)) {
      throw this.problem(line, 'Expected a user id in Unicode, got half of a surrogate pair');
    }
    this.validateId(Buffer.byteLength(userId), line);
    const bytes = Buffer.from(writeEntry({ userId, value }, this.kind));
    const valueBytes = this.kind === 'trait' ? bytes.length - bytes.indexOf(MEMBER_TAB) - 1 : 0;
    if (valueBytes > MAX_VALUE_BYTES) {
      throw this.problem(
        line,
        `Expected a value of at most ${MAX_VALUE_BYTES} bytes as JSON, got ${valueBytes}`,
      );
    }
    this.spill.add(bytes, 0, bytes.length);
  }

  validateId(bytes: number, line?: number): void {
    if (bytes <= MAX_ID_BYTES) return;
    throw this.problem(line, `Expected a user id of at most ${MAX_ID_BYTES} bytes, got ${bytes}`);
  }

  problem(line: number | undefined, message: string, hint?: string): InputError {
    return new InputError(printable(message, 300), {
      file: this.file,
      ...(line !== undefined && { line }),
      hint: hint ?? 'fix it; nothing was sent, because a skipped line would count as a user who left',
    });
  }
}

/** Reads the entries of an input, which comes in pieces of whole lines. */
export interface LineReader {
  /** Reads a piece of the input: whole lines with their line breaks. */
  take(lines: Buffer): void | Promise<void>;
  /** Called after the last line of the input. */
  end?(): void;
}

/** The largest character that counts as blank: space; below are control characters. */
export const BLANK = 0x20;

/**
 * Removes blanks and control characters around an id. Keeps other spaces, such as U+00A0: the readers that work on bytes do
 * not recognize them, and an id must not depend on the reader.
 */
export function trimmedId(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && text.charCodeAt(from) <= BLANK) from++;
  while (to > from && text.charCodeAt(to - 1) <= BLANK) to--;
  return text.slice(from, to);
}
