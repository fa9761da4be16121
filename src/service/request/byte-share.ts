import type { WeightedSemaphore } from '../../weighted-semaphore.ts';

/** One request's share of the bytes that all requests together may hold in memory. */
export class ByteShare {
  readonly #inFlight: WeightedSemaphore;
  #bytes = 0;

  constructor(inFlight: WeightedSemaphore) {
    this.#inFlight = inFlight;
  }

  /** Adds bytes to the share. Returns false and changes nothing if there is no room. */
  grow(by: number): boolean {
    if (!this.#inFlight.tryEnter(by)) return false;
    this.#bytes += by;
    return true;
  }

  /** Gives back all bytes except `bytes`. Call it with 0 at the end of the request, or the bytes stay reserved forever. */
  shrinkTo(bytes: number): void {
    this.#inFlight.leave(this.#bytes - bytes);
    this.#bytes = bytes;
  }
}
