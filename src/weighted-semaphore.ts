/** Limits what runs at once: holders weigh at most `limit` together. One may wait at a time. */
export class WeightedSemaphore {
  readonly #limit: number;
  #inside = 0;
  #waiting: { readonly weight: number; readonly resolve: () => void } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What the holders weigh. */
  get inside(): number {
    return this.#inside;
  }

  /** Returns false and changes nothing when there is no room now. */
  tryEnter(weight: number): boolean {
    if (this.#inside + weight > this.#limit) return false;
    this.#inside += weight;
    return true;
  }

  /** Waits for room; one that weighs more than the limit enters alone. Undefined when there is room now, which spares most a turn of the microtask queue. */
  enter(weight = 1): Promise<void> | undefined {
    if (this.#hasRoom(weight)) {
      this.#inside += weight;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting = { weight, resolve };
    });
  }

  /** Gives back the weight that a holder entered with. */
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
