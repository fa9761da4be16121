import { endOfId, HASH_SEED, hashByte, MEMBER_END } from './entry.ts';

/** The position of a missing entry. */
const NONE = -1;

/** An id of a partition: where its entry begins as it was told, and as the input has it. -1: it has none. */
export type SeePair = (told: number, given: number) => void;

/**
 * Brings two lists of entries together by their ids. It works on bytes: a string for each of ten million ids would cost most
 * of the time. Open addressing with linear probing, at most half full; made once and used for one partition after the other.
 */
export class EntryTable {
  #told = new Int32Array(0);
  #given = new Int32Array(0);
  #bytes: Buffer = Buffer.alloc(0);
  /** Where what is given begins. */
  #split = 0;
  #distinct = 0;

  /** All entries: those told, then those given. Positions are in it. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** How many different ids are given. */
  get distinct(): number {
    return this.#distinct;
  }

  /** `count` is how many entries there are at most. Of one id given twice, the last entry counts. */
  load(told: Uint8Array, given: readonly Uint8Array[], count: number): void {
    this.#bytes = Buffer.concat([told, ...given]);
    this.#split = told.length;
    this.#distinct = 0;
    this.#clear(count);
    const { length } = this.#bytes;
    for (let at = 0; at < this.#split;) at = this.#addTold(at);
    for (let at = this.#split; at < length;) at = this.#addGiven(at);
  }

  /** Calls `see` once for each id, in no particular order. */
  forEach(see: SeePair): void {
    const [told, given] = [this.#told, this.#given];
    for (let slot = 0; slot < told.length; slot++) {
      const [one = NONE, other = NONE] = [told[slot], given[slot]];
      if (one !== NONE || other !== NONE) see(one, other);
    }
  }

  /** The line that begins there, without its end. */
  lineAt(at: number): string {
    return this.#bytes.toString('utf8', at, this.#endOfLine(at));
  }

  /** The line with its end, as bytes that stay. */
  endOf(at: number): number {
    return this.#endOfLine(at) + 1;
  }

  isSameLine(one: number, other: number): boolean {
    const bytes = this.#bytes;
    for (let at = 0; ; at++) {
      const byte = bytes[one + at];
      if (byte !== bytes[other + at]) return false;
      if (byte === MEMBER_END) return true;
    }
  }

  #clear(count: number): void {
    const size = 2 ** Math.ceil(Math.log2(Math.max(count, 8) * 2));
    if (this.#told.length === size) {
      this.#told.fill(NONE);
      this.#given.fill(NONE);
      return;
    }
    this.#told = new Int32Array(size).fill(NONE);
    this.#given = new Int32Array(size).fill(NONE);
  }

  #addTold(at: number): number {
    const end = endOfId(this.#bytes, at);
    this.#told[this.#slotOf(at, end)] = at;
    return this.#endOfLine(end) + 1;
  }

  #addGiven(at: number): number {
    const end = endOfId(this.#bytes, at);
    const slot = this.#slotOf(at, end);
    if (this.#given[slot] === NONE) this.#distinct++;
    this.#given[slot] = at;
    return this.#endOfLine(end) + 1;
  }

  /** Where the id `bytes[from, to)` is, or where it would go. */
  #slotOf(from: number, to: number): number {
    const bytes = this.#bytes;
    let hash = HASH_SEED;
    for (let at = from; at < to; at++) hash = hashByte(hash, bytes[at] ?? 0);
    const mask = this.#told.length - 1;
    // All ids here agree in the bits that chose the partition, so the bits are mixed again.
    let slot = (Math.imul(hash, 0x9e3779b1) >>> 7) & mask;
    for (;;) {
      const [told = NONE, given = NONE] = [this.#told[slot], this.#given[slot]];
      const there = told === NONE ? given : told;
      if (there === NONE || this.#isId(there, from, to)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isId(there: number, from: number, to: number): boolean {
    const bytes = this.#bytes;
    const length = to - from;
    for (let at = 0; at < length; at++) if (bytes[there + at] !== bytes[from + at]) return false;
    return endOfId(bytes, there + length) === there + length;
  }

  #endOfLine(from: number): number {
    let at = from;
    while (this.#bytes[at] !== MEMBER_END) at++;
    return at;
  }
}
