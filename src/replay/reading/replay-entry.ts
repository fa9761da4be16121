import type { InputError } from '../../errors.ts';

/** How `--exact` reads a file: all of its bytes are one body, or each line is one. */
export const EXACT_FORMATS = ['raw', 'ndjson'] as const;

export type ExactFormat = (typeof EXACT_FORMATS)[number];

/** Where an entry begins. `line` counts from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
}

/**
 * One thing found in an input, in the order of the input. Every entry is one line of the replay's ledger, the broken
 * ones included.
 */
export type ReplayEntry = FoundEntry | BrokenEntry;

/** The bytes of one JSON value (of an exact body: any), not parsed yet: `message/json/read-json.ts` does that and may reject them. */
export interface FoundEntry {
  /** `capture`: the bytes are the body of a request, captured or given as a whole file with --exact. */
  readonly kind: 'message' | 'capture';
  readonly origin: Origin;
  /**
   * The exact bytes of the input; the white space around them only with --exact. A view of memory that is never written again, so it
   * may be kept; it then keeps the part of the file around it (at most 1 MiB) in memory too.
   */
  readonly bytes: Uint8Array;
}

/** A part of the input that cannot be read as a message, and why. The entries after it are still read. */
export interface BrokenEntry {
  readonly kind: 'broken';
  readonly origin: Origin;
  readonly error: InputError;
}
