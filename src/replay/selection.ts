import { InputError } from '../errors.ts';
import type { JsonValue } from '../message/types.ts';
import type { MessageFilter } from '../message/filter.ts';

export interface SelectionOptions {
  /** Selects messages by their content. @default every message */
  readonly filter?: MessageFilter | undefined;
  /** Number of entries to skip first, of those that pass the filter. @default 0 */
  readonly offset?: number | undefined;
  /** Number of entries to select after the skipped ones. @default all */
  readonly limit?: number | undefined;
}

/**
 * Selects the entries of a replay: the filter first, then the offset, then the limit, as a database does. An
 * entry that is not a message always passes the filter, and offset and limit count it: without a filter, they
 * count all entries of the file.
 */
export class ReplaySelection {
  readonly #filter: MessageFilter | undefined;
  #toSkip: number;
  #toTake: number;

  constructor({ filter, offset = 0, limit = Infinity }: SelectionOptions) {
    this.#filter = filter;
    this.#toSkip = offset;
    this.#toTake = limit;
  }

  /** Whether as many entries are selected as `limit` allows, so that reading can stop. */
  get isDone(): boolean {
    return this.#toTake <= 0;
  }

  /** Whether to select the next entry; an error if the filter fails. `message` is undefined if the entry could not be read. */
  takes(message: JsonValue | undefined): boolean | InputError {
    if (this.isDone) return false;
    try {
      if (message !== undefined && this.#filter?.(message) === false) return false;
    } catch (error) {
      if (error instanceof InputError) return error;
      throw error;
    }
    if (this.#toSkip > 0) {
      this.#toSkip--;
      return false;
    }
    this.#toTake--;
    return true;
  }
}
