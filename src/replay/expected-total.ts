import type { Input } from './reading/inputs.ts';

/** Estimates how many entries the inputs have, from their sizes and the entries found so far. */
export class ExpectedTotal {
  /** Total bytes of the inputs. Undefined if one is a pipe or a `.gz` file, because the size of its content is unknown. */
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

  /** Adds to the number of bytes read. Must be called before `found` counts the entries in these bytes. */
  readonly read = (bytes: number): void => {
    this.#readBytes += bytes;
  };

  found(entries: number): void {
    this.#entries += entries;
  }

  /** The estimated number of entries in all inputs. Undefined if it is unknown, such as before the first entry. */
  get total(): number | undefined {
    const isKnown = this.#bytes !== undefined && this.#entries > 0;
    if (!isKnown || this.#readBytes > this.#bytes) return undefined;
    return Math.round((this.#entries / this.#readBytes) * this.#bytes);
  }
}
