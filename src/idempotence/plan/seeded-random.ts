/** Random numbers that depend only on the seed, on every machine and version of Node. */
export class SeededRandom {
  #state: number;

  constructor(seed: string) {
    this.#state = hashOf(seed);
  }

  /** A number from 0 to below 1 (generator mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const [moved] = shuffled.splice(this.below(last + 1), 1);
      if (moved !== undefined) shuffled.push(moved);
    }
    return shuffled;
  }
}

/** FNV-1a hash of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
}
