/** A weighted semaphore: holders weigh at most `limit` together; one that weighs more enters alone. One may wait at a time. */
export class WeightedSemaphore {
  readonly #limit: number;
  #inside = 0;
  #waiting: { readonly weight: number; readonly resolve: () => void } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Undefined when there is room now, which spares most a turn of the microtask queue. */
  enter(weight = 1): Promise<void> | undefined {
    if (this.#hasRoom(weight)) {
      this.#inside += weight;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting = { weight, resolve };
    });
  }

  /** With the weight that it entered with. */
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
