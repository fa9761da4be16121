/**
 * Keys that somebody is at work on. A client that has lost patience sends a batch again while the first is still being
 * stored: the second must not overtake it, nor be told that it is stored before it is.
 */
export class UnderWay {
  readonly #work = new Map<string, Promise<void>>();

  /** Waits until nobody is at work on any of the keys, then takes all of them at once. Call what it gives when done. */
  async enter(keys: readonly string[]): Promise<() => void> {
    for (let others = this.#othersAt(keys); others.length > 0; others = this.#othersAt(keys)) {
      await Promise.all(others);
    }
    let finish: (() => void) | undefined;
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    for (const key of keys) this.#work.set(key, work);
    return () => {
      for (const key of keys) this.#work.delete(key);
      finish?.();
    };
  }

  #othersAt(keys: readonly string[]): readonly Promise<void>[] {
    return keys.flatMap((key) => this.#work.get(key) ?? []);
  }
}
