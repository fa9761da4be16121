/** Bounds the bytes that are in memory at once, whoever they belong to. */
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

  /** One request's part of it, nothing at first. */
  open(): Share {
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

export interface Share {
  /** False, and nothing changed: there is no room. */
  readonly grow: (by: number) => boolean;
  /** Gives back what is over that; 0 at the end of the request, or it is gone for ever. */
  readonly shrinkTo: (bytes: number) => void;
}
