import type { Input } from './reading/inputs.ts';

/** Guesses how many entries the inputs have, by their bytes and the entries found so far. */
export class ExpectedTotal {
  /** Undefined where it is not known before the end: of a pipe, and of what is packed. */
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

  /** Takes the bytes in which the next entries are found. */
  readonly read = (bytes: number): void => {
    this.#readBytes += bytes;
  };

  found(entries: number): void {
    this.#entries += entries;
  }

  /** Undefined while it cannot be guessed. */
  get total(): number | undefined {
    const isKnown = this.#bytes !== undefined && this.#entries > 0;
    if (!isKnown || this.#readBytes > this.#bytes) return undefined;
    return Math.round((this.#entries / this.#readBytes) * this.#bytes);
  }
}
