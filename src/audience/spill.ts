import { HASH_SEED, hashByte, MEMBER_END, PARTITIONS, partitionOf, MEMBER_TAB } from './entry.ts';
import type { ChunkStore } from './store.ts';

/** Maximum bytes of an entry. The slot of each partition has room for the longest. */
export const MAX_MEMBER_BYTES = 32 * 1024 - 1;
const SLOT_BYTES = MAX_MEMBER_BYTES + 1;

/**
 * Distance between the places of two partitions in the store. The place of a chunk is the place of its partition plus the
 * number of the chunk.
 */
const CHUNKS_PER_PARTITION = 2 ** 32;

/**
 * Sorts the entries of an input into partitions, and keeps their order within each partition. Writes full slots to a
 * temporary table, so that memory does not grow with the input.
 */
export class Spill {
  readonly #store: ChunkStore;
  #slots = Buffer.allocUnsafe(PARTITIONS * SLOT_BYTES);
  /** Number of used bytes in the slot of each partition. */
  readonly #used = new Int32Array(PARTITIONS);
  readonly #chunks = new Int32Array(PARTITIONS);
  readonly #entries = new Int32Array(PARTITIONS);

  /** Takes over the store of chunks: close() of the spill closes it. */
  constructor(store: ChunkStore) {
    this.#store = store;
  }

  /** Number of all entries of the input, including duplicates. */
  get total(): number {
    return this.#entries.reduce((sum, count) => sum + count, 0);
  }

  /** Number of the input's entries in a partition, including duplicates. */
  countOf(partition: number): number {
    return this.#entries[partition] ?? 0;
  }

  /** Adds the entry whose line is `bytes[from, to)`, in the format of `writeEntry`. */
  add(bytes: Uint8Array, from: number, to: number): void {
    let hash = HASH_SEED;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === MEMBER_TAB) break;
      hash = hashByte(hash, byte);
    }
    this.addHashed(bytes, from, to, hash);
  }

  /** Adds an entry like `add`, for callers that know the hash of its id. */
  addHashed(bytes: Uint8Array, from: number, to: number, hash: number): void {
    const partition = partitionOf(hash);
    const length = to - from;
    if ((this.#used[partition] ?? 0) + length >= SLOT_BYTES) this.#flush(partition);
    const start = partition * SLOT_BYTES + (this.#used[partition] ?? 0);
    const slots = this.#slots;
    // Copies byte by byte: ids are so short that a call of `copy` would cost more than this loop.
    for (let at = 0; at < length; at++) slots[start + at] = bytes[from + at] ?? 0;
    slots[start + length] = MEMBER_END;
    this.#used[partition] = (this.#used[partition] ?? 0) + length + 1;
    this.#entries[partition] = (this.#entries[partition] ?? 0) + 1;
  }

  /** Writes the last chunks to the store and frees the memory of the slots. No entries can be added afterwards. */
  finish(): void {
    for (let partition = 0; partition < PARTITIONS; partition++) this.#flush(partition);
    this.#slots = Buffer.alloc(0);
  }

  /** The chunks of a partition, in order. Each has whole lines. */
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
