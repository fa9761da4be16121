/** Maximum size of an entry, far above the limit of a message (32 KiB). */
export const MAX_ENTRY_BYTES = 1024 * 1024;

/** Buffers the start of an entry that spans several chunks. Drops the bytes of an entry that is too large. */
export class Pieces {
  #parts: Buffer[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_ENTRY_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Joins all pieces and `last`; undefined if the result exceeds MAX_ENTRY_BYTES. Copies only if there are pieces. */
  with(last: Buffer): Buffer | undefined {
    if (this.#bytes + last.length > MAX_ENTRY_BYTES) return undefined;
    return this.#bytes === 0 ? last : Buffer.concat([...this.#parts, last]);
  }

  /** Joins all pieces and `last` like `with`, and clears the pieces. */
  take(last: Buffer): Buffer | undefined {
    const whole = this.with(last);
    this.clear();
    return whole;
  }

  clear(): void {
    if (this.#bytes === 0) return;
    this.#parts = [];
    this.#bytes = 0;
  }
}
