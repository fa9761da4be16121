import { endOfId, HASH_SEED, hashByte, MEMBER_END } from './entry.ts';

/** The position of a missing entry. */
const NONE = -1;

/** Gets an id of a partition: where the entry begins that was sent last, and where the one of the input does. -1: there is none. */
export type SeePair = (sent: number, given: number) => void;

/**
 * Brings two lists of entries together by their ids. It works on bytes: a string for each of ten million ids would cost most
 * of the time. Open addressing with linear probing, at most half full; made once and used for one partition after the other.
 */
export class EntryTable {
  #sent = new Int32Array(0);
  #given = new Int32Array(0);
  #bytes: Buffer = Buffer.alloc(0);
  /** Where the entries of the input begin. */
  #split = 0;
  #distinct = 0;

  /** All entries: the ones sent last, then the ones of the input. Positions point into it. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** How many different ids the input has. */
  get distinct(): number {
    return this.#distinct;
  }

  /** `count` is the most entries that there may be. Of an id that the input has twice, the last entry counts. */
  load(sent: Uint8Array, given: readonly Uint8Array[], count: number): void {
    this.#bytes = Buffer.concat([sent, ...given]);
    this.#split = sent.length;
    this.#distinct = 0;
    this.#clear(count);
    const { length } = this.#bytes;
    for (let at = 0; at < this.#split;) at = this.#addTold(at);
    for (let at = this.#split; at < length;) at = this.#addGiven(at);
  }

  /** Calls `see` once for each id, in no particular order. */
  forEach(see: SeePair): void {
    const [sent, given] = [this.#sent, this.#given];
    for (let slot = 0; slot < sent.length; slot++) {
      const [one = NONE, other = NONE] = [sent[slot], given[slot]];
      if (one !== NONE || other !== NONE) see(one, other);
    }
  }

  /** The line that begins there, without its end. */
  lineAt(at: number): string {
    return this.#bytes.toString('utf8', at, this.#endOfLine(at));
  }

  /** A copy of the line, its end included. */
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
    if (this.#sent.length === size) {
      this.#sent.fill(NONE);
      this.#given.fill(NONE);
      return;
    }
    this.#sent = new Int32Array(size).fill(NONE);
    this.#given = new Int32Array(size).fill(NONE);
  }

  #addTold(at: number): number {
    const end = endOfId(this.#bytes, at);
    this.#sent[this.#slotOf(at, end)] = at;
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
    const mask = this.#sent.length - 1;
    // All ids here agree in the bits that chose the partition, so the bits are mixed again.
    let slot = (Math.imul(hash, 0x9e3779b1) >>> 7) & mask;
    for (;;) {
      const [sent = NONE, given = NONE] = [this.#sent[slot], this.#given[slot]];
      const there = sent === NONE ? given : sent;
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
