/** Limits the bytes of all requests that are in memory at once. */
export class ByteBudget {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are in flight. */
  get taken(): number {
    return this.#taken;
  }

  /** Opens one request's part of the budget, empty at first. */
  open(): ByteShare {
    let bytes = 0;
    return {
      grow: (by) => {
        if (this.#taken + by > this.#limit) return false;
        this.#taken += by;
        bytes += by;
        return true;
      },
      shrinkTo: (to) => {
        this.#taken -= bytes - to;
        bytes = to;
      },
    };
  }
}

export interface ByteShare {
  /** Takes bytes. False, and nothing changed: there is no room. */
  readonly grow: (by: number) => boolean;
  /** Gives back all but these bytes; call with 0 at the end of the request, or they are lost forever. */
  readonly shrinkTo: (bytes: number) => void;
}
