import { endOfId, HASH_SEED, hashByte, MEMBER_END } from './entry.ts';

/** The position of a missing entry. */
const NONE = -1;

/** Called for an id with the positions of its stored entry and of its entry in the input; -1 if there is no such entry. */
export type SeePair = (sent: number, given: number) => void;

/**
 * Joins two lists of entries by id. Works on bytes, because creating a string for each of ten million ids would take most of
 * the time. A hash table with open addressing and linear probing, at most half full. One table is reused for all partitions.
 */
export class EntryTable {
  #sent = new Int32Array(0);
  #given = new Int32Array(0);
  /** All entries: stored ones, then those of the input. Positions of entries are indexes of this buffer. */
  bytes: Buffer = Buffer.alloc(0);
  /** Number of different ids in the input. */
  distinct = 0;

  /**
   * Replaces the entries in the table: `sent` are the stored ones, `given` those of the input. `count`: maximum number of
   * entries. If the input repeats an id, its last entry counts.
   */
  load(sent: Uint8Array, given: readonly Uint8Array[], count: number): void {
    this.bytes = Buffer.concat([sent, ...given]);
    this.distinct = 0;
    this.#clear(count);
    const { length } = this.bytes;
    for (let at = 0; at < sent.length;) at = this.#addSent(at);
    for (let at = sent.length; at < length;) at = this.#addGiven(at);
  }

  /** Calls `see` once for each id, in no particular order. */
  forEach(see: SeePair): void {
    const [sent, given] = [this.#sent, this.#given];
    for (let slot = 0; slot < sent.length; slot++) {
      const [one = NONE, other = NONE] = [sent[slot], given[slot]];
      if (one !== NONE || other !== NONE) see(one, other);
    }
  }

  /** The line of the entry at a position, without its line break. */
  lineAt(at: number): string {
    return this.bytes.toString('utf8', at, this.#endOfLine(at));
  }

  /** Position after the line at `at`, including its line break. */
  endOf(at: number): number {
    return this.#endOfLine(at) + 1;
  }

  isSameLine(one: number, other: number): boolean {
    const bytes = this.bytes;
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

  #addSent(at: number): number {
    const end = endOfId(this.bytes, at);
    this.#sent[this.#slotOf(at, end)] = at;
    return this.#endOfLine(end) + 1;
  }

  #addGiven(at: number): number {
    const end = endOfId(this.bytes, at);
    const slot = this.#slotOf(at, end);
    if (this.#given[slot] === NONE) this.distinct++;
    this.#given[slot] = at;
    return this.#endOfLine(end) + 1;
  }

  /** Slot of the id `bytes[from, to)`, or the free slot for it. */
  #slotOf(from: number, to: number): number {
    const bytes = this.bytes;
    let hash = HASH_SEED;
    for (let at = from; at < to; at++) hash = hashByte(hash, bytes[at] ?? 0);
    const mask = this.#sent.length - 1;
    // Mixes the bits again, because the hashes of all ids of a partition agree in some bits.
    let slot = (Math.imul(hash, 0x9e3779b1) >>> 7) & mask;
    for (;;) {
      const [sent = NONE, given = NONE] = [this.#sent[slot], this.#given[slot]];
      const there = sent === NONE ? given : sent;
      if (there === NONE || this.#isId(there, from, to)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isId(there: number, from: number, to: number): boolean {
    const bytes = this.bytes;
    const length = to - from;
    for (let at = 0; at < length; at++) if (bytes[there + at] !== bytes[from + at]) return false;
    return endOfId(bytes, there + length) === there + length;
  }

  #endOfLine(from: number): number {
    let at = from;
    while (this.bytes[at] !== MEMBER_END) at++;
    return at;
  }
}
