/** A request that has come, and is not reported or refused yet. */
export interface OpenRequest {
  /** More of its body has come. False: with it there would be too much in memory. */
  take(bytes: number): boolean;
  /** It is reported or refused. To be called once. */
  end(): void;
}

interface OpenRequestsOptions {
  /** Of the bodies of all of them. */
  readonly maxBytes: number;
  /** Called with the first that comes and after the last that is settled. */
  readonly onBusy?: ((isBusy: boolean) => void) | undefined;
}

/** How many requests are being read, held or passed on, and how much memory their bodies take, over all connections. */
export class OpenRequests {
  readonly #maxBytes: number;
  readonly #onBusy: (isBusy: boolean) => void;
  #count = 0;
  #bytes = 0;

  constructor({ maxBytes, onBusy = () => {} }: OpenRequestsOptions) {
    this.#maxBytes = maxBytes;
    this.#onBusy = onBusy;
  }

  begin(): OpenRequest {
    this.#count += 1;
    if (this.#count === 1) this.#onBusy(true);
    let taken = 0;
    return {
      take: (bytes) => {
        if (this.#bytes + bytes > this.#maxBytes) return false;
        this.#bytes += bytes;
        taken += bytes;
        return true;
      },
      end: () => {
        this.#bytes -= taken;
        this.#count -= 1;
        if (this.#count === 0) this.#onBusy(false);
      },
    };
  }
}
