/** The largest entry. No message may be larger than 32 KiB, so no real one comes near. */
export const MAX_ENTRY_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/** The beginning of an entry that spans several chunks. Drops an entry that grows too large. */
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

  /** Joins all pieces and `last`; undefined when that exceeds the largest entry. Copies only if necessary. */
  with(last: Buffer): Buffer | undefined {
    if (this.#bytes + last.length > MAX_ENTRY_BYTES) return undefined;
    return this.#bytes === 0 ? last : Buffer.concat([...this.#parts, last]);
  }

  /** Joins like `with`, and clears the pieces. */
  take(last: Buffer = NOTHING): Buffer | undefined {
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
