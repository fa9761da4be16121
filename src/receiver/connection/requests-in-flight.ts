import { WeightedSemaphore } from '../../weighted-semaphore.ts';

/** A request that has arrived and is not yet reported or rejected. */
export interface RequestInFlight {
  /** Counts bytes of its body that have arrived. False: with them there would be too much in memory. */
  take(bytes: number): boolean;
  /** Marks the request as reported or rejected. Call it once. */
  end(): void;
}

interface RequestsInFlightOptions {
  /** The most bytes in the bodies of all open requests. */
  readonly maxBytes: number;
  /** Called with true when the first request opens, with false when the last one ends. */
  readonly onBusy?: ((isBusy: boolean) => void) | undefined;
}

/** Counts the requests that are being read, held or forwarded, and the memory of their bodies, over all connections. */
export class RequestsInFlight {
  readonly #bytes: WeightedSemaphore;
  readonly #onBusy: (isBusy: boolean) => void;
  #count = 0;

  constructor({ maxBytes, onBusy = () => {} }: RequestsInFlightOptions) {
    this.#bytes = new WeightedSemaphore(maxBytes);
    this.#onBusy = onBusy;
  }

  begin(): RequestInFlight {
    this.#count += 1;
    if (this.#count === 1) this.#onBusy(true);
    let taken = 0;
    return {
      take: (bytes) => {
        if (!this.#bytes.tryEnter(bytes)) return false;
        taken += bytes;
        return true;
      },
      end: () => {
        this.#bytes.leave(taken);
        this.#count -= 1;
        if (this.#count === 0) this.#onBusy(false);
      },
    };
  }
}
