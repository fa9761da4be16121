/** The initial number of slots of a map: a power of two. */
const SMALLEST = 16;
/** Start value of the hashes. Random in every process, so that no sender can choose keys that all collide. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/**
 * A map for millions of keys that are added and removed, which reuses free slots. V8's Map instead allocates a new table
 * after a number of insertions, and the old table points to the new one. When one of the tables reaches the old generation,
 * all later tables, with everything they ever held, stay in memory until the next full collection: 40 MB in a replay. This
 * map uses open addressing with linear probing, and is never more than half full.
 */
export class ReusableMap<Value> {
  #keys: (string | undefined)[] = emptySlots(SMALLEST);
  #values: (Value | undefined)[] = emptySlots(SMALLEST);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#keys[this.#slotOf(key)] !== undefined;
  }

  get(key: string): Value | undefined {
    return this.#values[this.#slotOf(key)];
  }

  set(key: string, value: Value): void {
    const slot = this.#slotOf(key);
    this.#values[slot] = value;
    if (this.#keys[slot] !== undefined) return;
    this.#keys[slot] = key;
    if (++this.#size * 2 > this.#keys.length) this.#grow();
  }

  delete(key: string): void {
    const slot = this.#slotOf(key);
    if (this.#keys[slot] === undefined) return;
    this.#size--;
    this.#closeGap(slot);
  }

  /** Yields the values in no particular order. The map may change during the iteration, which then may miss new values. */
  *values(): Generator<Value, void, undefined> {
    const [keys, values] = [[...this.#keys], [...this.#values]];
    for (const [slot, key] of keys.entries()) {
      // The cast is safe, because the key shows that the slot is used. The value itself may be undefined.
      if (key !== undefined) yield values[slot] as Value;
    }
  }

  /** Returns the slot of the key, or the free slot where it would be added. */
  #slotOf(key: string): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let slot = hashOf(key) & mask;
    for (let at = keys[slot]; at !== undefined && at !== key; at = keys[slot]) slot = (slot + 1) & mask;
    return slot;
  }

  /** Shifts later keys back into the freed slot so that linear probing still finds them. */
  #closeGap(free: number): void {
    const [keys, values] = [this.#keys, this.#values];
    const mask = keys.length - 1;
    let hole = free;
    for (let slot = (hole + 1) & mask; ; slot = (slot + 1) & mask) {
      const key = keys[slot];
      if (key === undefined) break;
      const isBehindHole = ((slot - hashOf(key)) & mask) >= ((slot - hole) & mask);
      if (!isBehindHole) continue;
      keys[hole] = key;
      values[hole] = values[slot];
      hole = slot;
    }
    keys[hole] = undefined;
    values[hole] = undefined;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = emptySlots(keys.length * 2);
    this.#values = emptySlots(keys.length * 2);
    for (const [from, key] of keys.entries()) {
      if (key === undefined) continue;
      const slot = this.#slotOf(key);
      this.#keys[slot] = key;
      this.#values[slot] = values[from];
    }
  }
}

function emptySlots<Item>(count: number): (Item | undefined)[] {
  return Array.from<Item | undefined>({ length: count });
}

/** Returns the FNV-1a hash of the UTF-16 units. Folds the high bits into the low ones, which select the slot. */
function hashOf(key: string): number {
  let hash = SEED;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
