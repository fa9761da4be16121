/** Limits concurrent work: the total weight of all holders is at most `limit`. Only one caller may wait at a time. */
export class WeightedSemaphore {
  readonly #limit: number;
  #inside = 0;
  #waiting: { readonly weight: number; readonly resolve: () => void } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Total weight of the holders. */
  get inside(): number {
    return this.#inside;
  }

  /** Adds a holder if there is room now. Otherwise returns false and changes nothing. */
  tryEnter(weight: number): boolean {
    if (this.#inside + weight > this.#limit) return false;
    this.#inside += weight;
    return true;
  }

  /**
   * Waits for room. A weight above the limit enters alone. Returns undefined if there is room now, which saves a turn of the
   * microtask queue.
   */
  enter(weight = 1): Promise<void> | undefined {
    if (this.#hasRoom(weight)) {
      this.#inside += weight;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting = { weight, resolve };
    });
  }

  /** Removes a holder of this weight. */
  leave(weight = 1): void {
    this.#inside -= weight;
    const waiting = this.#waiting;
    if (waiting === undefined || !this.#hasRoom(waiting.weight)) return;
    this.#waiting = undefined;
    this.#inside += waiting.weight;
    waiting.resolve();
  }

  #hasRoom(weight: number): boolean {
    return this.#inside === 0 || this.#inside + weight <= this.#limit;
  }
}
