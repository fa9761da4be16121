import { HASH_SEED, hashByte, MEMBER_END } from '../entry.ts';
import { trimmedId, type LineReader, type MemberTarget } from './member-target.ts';

/** Up to the quotation mark are blanks, controls and whatever needs a second look. */
const QUOTE = 0x22;

/** One id a line. Blank lines say nothing; blanks around an id do not belong to it. */
export class IdLines implements LineReader {
  readonly #target: MemberTarget;
  #line: number;

  constructor(target: MemberTarget, line: number) {
    this.#target = target;
    this.#line = line;
  }

  take(lines: Buffer): void {
    const { spill } = this.#target;
    let start = 0;
    let hash = HASH_SEED;
    // One pass over the bytes finds the line's end and the id's hash.
    for (let at = 0; at < lines.length; at++) {
      const byte = lines[at] ?? 0;
      if (byte > QUOTE) {
        hash = hashByte(hash, byte);
        continue;
      }
      const end = byte === MEMBER_END ? at : lines.indexOf(MEMBER_END, at);
      if (byte === MEMBER_END && at > start) {
        this.#target.checkId(at - start, this.#line);
        spill.addHashed(lines, start, at, hash);
      } else if (end > start) {
        this.#addTrimmed(lines, start, end);
      }
      this.#line++;
      at = end;
      start = end + 1;
      hash = HASH_SEED;
    }
  }

  end(): void {}

  #addTrimmed(lines: Buffer, start: number, end: number): void {
    const id = trimmedId(lines.toString('utf8', start, end));
    if (id !== '') this.#target.add(id, true, this.#line);
  }
}
