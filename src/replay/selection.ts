import { InputError } from '../errors.ts';
import type { JsonValue } from '../message/types.ts';
import type { MessageFilter } from '../message/filter.ts';

export interface SelectionOptions {
  /** Selects messages by their content. @default every message */
  readonly filter?: MessageFilter | undefined;
  /** Number of entries to skip, counted after the filter. @default 0 */
  readonly offset?: number | undefined;
  /** Number of entries to select after the skipped ones. @default all */
  readonly limit?: number | undefined;
}

/**
 * Selects entries: first by the filter, then by the offset, then by the limit, like WHERE, OFFSET and LIMIT in SQL. An
 * entry that cannot be parsed passes the filter, so offset and limit count it. Without a filter, they count every entry.
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

  /** Whether `limit` entries have been selected, so that reading can stop. */
  get isDone(): boolean {
    return this.#toTake <= 0;
  }

  /**
   * Whether the next entry is selected; an error if the filter fails. `message` is the parsed entry, undefined if it could
   * not be parsed. Only the filter needs `message`.
   */
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
