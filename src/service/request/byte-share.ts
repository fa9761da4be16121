import type { WeightedSemaphore } from '../../weighted-semaphore.ts';

/** What one request holds of the bytes that all requests together may hold in memory. */
export class ByteShare {
  readonly #inFlight: WeightedSemaphore;
  #bytes = 0;

  constructor(inFlight: WeightedSemaphore) {
    this.#inFlight = inFlight;
  }

  /** Takes bytes. False, and nothing changed: there is no room. */
  grow(by: number): boolean {
    if (!this.#inFlight.tryEnter(by)) return false;
    this.#bytes += by;
    return true;
  }

  /** Gives back all but these bytes; call with 0 at the end of the request, or they are lost forever. */
  shrinkTo(bytes: number): void {
    this.#inFlight.leave(this.#bytes - bytes);
    this.#bytes = bytes;
  }
}
