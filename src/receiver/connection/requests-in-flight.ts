import { ByteShare } from '../../service/request/byte-share.ts';
import { WeightedSemaphore } from '../../weighted-semaphore.ts';

/** A request that has arrived and is not yet reported or rejected. */
export interface RequestInFlight {
  /**
   * Counts bytes of the body that arrived. Returns false if the bodies of all requests in flight would exceed `maxBytes`.
   */
  readonly take: (bytes: number) => boolean;
  /** Stops counting the request and its bytes, because it was reported or rejected. Call it once. */
  readonly end: () => void;
}

interface RequestsInFlightOptions {
  /** Most bytes in the bodies of all requests in flight. */
  readonly maxBytes: number;
  /** Called with true when the number of requests in flight rises from 0, with false when it returns to 0. */
  readonly onBusy?: ((isBusy: boolean) => void) | undefined;
}

/** Counts the requests that are being read, held or forwarded over all connections, and the bytes of their bodies. */
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
    const share = new ByteShare(this.#bytes);
    return {
      take: (bytes) => share.grow(bytes),
      end: () => {
        share.shrinkTo(0);
        this.#count -= 1;
        if (this.#count === 0) this.#onBusy(false);
      },
    };
  }
}
