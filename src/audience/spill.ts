import { HASH_SEED, hashByte, MEMBER_END, PARTITIONS, partitionOf, MEMBER_TAB } from './entry.ts';
import type { ChunkStore } from './store.ts';

/** The most bytes of an entry: the buffer of each partition holds the longest. */
export const MAX_MEMBER_BYTES = 32 * 1024 - 1;
const SLOT_BYTES = MAX_MEMBER_BYTES + 1;

/** The place of a chunk in the store is its partition times this, plus its number within the partition. */
const CHUNKS_PER_PARTITION = 2 ** 32;

/**
 * The entries of an input, sorted into partitions as they come, in their order within each. A full slot of a partition
 * is written to a temporary table, so memory does not grow with the input.
 */
export class Spill {
  readonly #store: ChunkStore;
  #slots = Buffer.allocUnsafe(PARTITIONS * SLOT_BYTES);
  /** How much of each slot is used. */
  readonly #used = new Int32Array(PARTITIONS);
  readonly #chunks = new Int32Array(PARTITIONS);
  readonly #entries = new Int32Array(PARTITIONS);
  #total = 0;

  /** Takes over `store`: close() closes it. */
  constructor(store: ChunkStore) {
    this.#store = store;
  }

  /** All entries, duplicates too. */
  get total(): number {
    return this.#total;
  }

  /** How many entries there are in a partition, duplicates too. */
  countOf(partition: number): number {
    return this.#entries[partition] ?? 0;
  }

  /** Adds the line `bytes[from, to)`, as `writeEntry` writes it. */
  add(bytes: Uint8Array, from: number, to: number): void {
    let hash = HASH_SEED;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === MEMBER_TAB) break;
      hash = hashByte(hash, byte);
    }
    this.addHashed(bytes, from, to, hash);
  }

  /** As `add`, for a caller that has computed the hash already. */
  addHashed(bytes: Uint8Array, from: number, to: number, hash: number): void {
    const partition = partitionOf(hash);
    const length = to - from;
    if ((this.#used[partition] ?? 0) + length >= SLOT_BYTES) this.#flush(partition);
    const start = partition * SLOT_BYTES + (this.#used[partition] ?? 0);
    const slots = this.#slots;
    // Short as ids are, a call would cost more than the loop.
    for (let at = 0; at < length; at++) slots[start + at] = bytes[from + at] ?? 0;
    slots[start + length] = MEMBER_END;
    this.#used[partition] = (this.#used[partition] ?? 0) + length + 1;
    this.#entries[partition] = (this.#entries[partition] ?? 0) + 1;
    this.#total++;
  }

  /** Writes the last chunks and frees the slots: nothing is added after it. */
  finish(): void {
    for (let partition = 0; partition < PARTITIONS; partition++) this.#flush(partition);
    this.#slots = Buffer.alloc(0);
  }

  /** The chunks of a partition, in order; each holds whole lines. */
  chunksOf(partition: number): readonly Uint8Array[] {
    const first = partition * CHUNKS_PER_PARTITION;
    return this.#store.read(first, first + CHUNKS_PER_PARTITION);
  }

  close(): void {
    this.#store.close();
  }

  #flush(partition: number): void {
    const used = this.#used[partition] ?? 0;
    if (used === 0) return;
    const start = partition * SLOT_BYTES;
    const entries = this.#slots.subarray(start, start + used);
    const number = this.#chunks[partition] ?? 0;
    this.#store.write(partition * CHUNKS_PER_PARTITION + number, entries);
    this.#chunks[partition] = number + 1;
    this.#used[partition] = 0;
  }
}
