/** The initial number of slots: a power of two. */
const SMALLEST = 16;
/** Differs in every process, so that no sender can choose keys that all belong in one slot. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/**
 * A map that millions of keys pass through. V8's own Map makes a new table after a number of insertions and has the old
 * one point to it: once one of them is in the old generation, all later tables, and all that they ever held, stay in memory
 * until the next full collection: 40 MB of a replay. This map uses a free slot again. Open addressing with linear probing,
 * never more than half full.
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
    this.#close(slot);
  }

  /** Yields the values in no particular order. The map may be changed during the iteration, which may miss values added then. */
  *values(): Generator<Value, void, undefined> {
    const [keys, values] = [[...this.#keys], [...this.#values]];
    for (const [slot, key] of keys.entries()) {
      // A value may be undefined; a slot that holds one has a key.
      if (key !== undefined) yield values[slot] as Value;
    }
  }

  /** The slot that holds the key, or that it would go to. */
  #slotOf(key: string): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let slot = hashOf(key) & mask;
    for (let at = keys[slot]; at !== undefined && at !== key; at = keys[slot]) slot = (slot + 1) & mask;
    return slot;
  }

  /** Moves up the keys that could no longer be found behind a free slot. */
  #close(free: number): void {
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
  return Array.from({ length: count }, () => undefined);
}

/** FNV-1a over UTF-16 units, its high bits folded into the low ones, which choose the slot. */
function hashOf(key: string): number {
  let hash = SEED;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
