/**
 * A lock per key. A client that has lost patience sends a batch again while the first is still being stored: the second
 * must not overtake it, nor be reported as stored before it is.
 */
export class KeyedMutex {
  readonly #locks = new Map<string, Promise<void>>();

  /** Waits until none of the keys is locked, then locks all of them at once. Returns the function that unlocks them. */
  async lock(keys: readonly string[]): Promise<() => void> {
    for (let others = this.#othersAt(keys); others.length > 0; others = this.#othersAt(keys)) {
      await Promise.all(others);
    }
    let release: (() => void) | undefined;
    const lock = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const key of keys) this.#locks.set(key, lock);
    return () => {
      for (const key of keys) this.#locks.delete(key);
      release?.();
    };
  }

  #othersAt(keys: readonly string[]): readonly Promise<void>[] {
    return keys.flatMap((key) => this.#locks.get(key) ?? []);
  }
}
