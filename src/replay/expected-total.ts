import type { Input } from './reading/inputs.ts';

/** Estimates how many entries the inputs have, from their sizes and the entries found so far. */
export class ExpectedTotal {
  /** Size of all inputs; undefined if one is a pipe or packed, whose size is unknown before the end. */
  readonly #bytes: number | undefined;
  #readBytes = 0;
  #entries = 0;

  constructor(inputs: readonly Pick<Input, 'name' | 'identity'>[]) {
    const sizes = inputs.map(({ name, identity }) => (name.endsWith('.gz') ? undefined : identity?.bytes));
    this.#bytes = sizes.reduce(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    );
  }

  /** Counts bytes as read. Called before the entries in these bytes are counted by `found`. */
  readonly read = (bytes: number): void => {
    this.#readBytes += bytes;
  };

  found(entries: number): void {
    this.#entries += entries;
  }

  /** The estimated number of entries in all inputs; undefined while there is no estimate. */
  get total(): number | undefined {
    const isKnown = this.#bytes !== undefined && this.#entries > 0;
    if (!isKnown || this.#readBytes > this.#bytes) return undefined;
    return Math.round((this.#entries / this.#readBytes) * this.#bytes);
  }
}
