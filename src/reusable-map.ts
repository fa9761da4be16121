/** A power of two. */
const SMALLEST = 16;
/** Another one in every process, so that nobody can choose keys that all belong in one place. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/**
 * A map for what comes and goes by the million. V8's own Map makes a new table every so many insertions and has the old
 * one point to it: once one of them has grown old, all tables after it, and all that they ever held, stay in memory until
 * the next full collection: 40 MB of a replay. Here a place that has become free is used again. Open addressing with
 * linear probing, never more than half full.
 */
export class ReusableMap<Value> {
  #keys: (string | undefined)[] = emptyPlaces(SMALLEST);
  #values: (Value | undefined)[] = emptyPlaces(SMALLEST);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#keys[this.#placeOf(key)] !== undefined;
  }

  get(key: string): Value | undefined {
    return this.#values[this.#placeOf(key)];
  }

  set(key: string, value: Value): void {
    const place = this.#placeOf(key);
    this.#values[place] = value;
    if (this.#keys[place] !== undefined) return;
    this.#keys[place] = key;
    if (++this.#size * 2 > this.#keys.length) this.#grow();
  }

  delete(key: string): void {
    const place = this.#placeOf(key);
    if (this.#keys[place] === undefined) return;
    this.#size--;
    this.#close(place);
  }

  /** In no particular order. The map may be changed meanwhile; what is added then may be missed. */
  *values(): Generator<Value, void, undefined> {
    const [keys, values] = [[...this.#keys], [...this.#values]];
    for (const [place, key] of keys.entries()) {
      // A value may be undefined; a place that holds one has a key.
      if (key !== undefined) yield values[place] as Value;
    }
  }

  /** Where the key is, or where it would go. */
  #placeOf(key: string): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let place = hashOf(key) & mask;
    for (let at = keys[place]; at !== undefined && at !== key; at = keys[place]) place = (place + 1) & mask;
    return place;
  }

  /** Moves up what would not be found any more behind a free place. */
  #close(free: number): void {
    const [keys, values] = [this.#keys, this.#values];
    const mask = keys.length - 1;
    let hole = free;
    for (let place = (hole + 1) & mask; ; place = (place + 1) & mask) {
      const key = keys[place];
      if (key === undefined) break;
      const isBehindHole = ((place - hashOf(key)) & mask) >= ((place - hole) & mask);
      if (!isBehindHole) continue;
      keys[hole] = key;
      values[hole] = values[place];
      hole = place;
    }
    keys[hole] = undefined;
    values[hole] = undefined;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = emptyPlaces(keys.length * 2);
    this.#values = emptyPlaces(keys.length * 2);
    for (const [from, key] of keys.entries()) {
      if (key === undefined) continue;
      const place = this.#placeOf(key);
      this.#keys[place] = key;
      this.#values[place] = values[from];
    }
  }
}

function emptyPlaces<Item>(count: number): (Item | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}

/** FNV-1a over UTF-16 units, its high bits folded into the low ones, which choose the place. */
function hashOf(key: string): number {
  let hash = SEED;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
