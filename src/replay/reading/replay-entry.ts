import type { HeaderPair } from '../../capture/capture.ts';
import type { InputError } from '../../errors.ts';

/** How `--exact` reads a file: `raw` as one body, `ndjson` as one body per line. */
export const EXACT_FORMATS = ['raw', 'ndjson'] as const;

export type ExactFormat = (typeof EXACT_FORMATS)[number];

/** The place where an entry begins. `line` counts from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
  /**
   * Number of the request in a HAR file, from 1. A line number does not help there: such files have one line or thousands.
   */
  readonly request?: number;
}

/** One entry of an input. The ledger of the replay counts every entry, including broken ones. */
export type ReplayEntry = FoundEntry | BrokenEntry;

/**
 * The bytes of one JSON value (or any bytes of an exact body), not parsed yet: `message/json/read-json.ts`
 * parses and may reject them.
 */
export interface FoundEntry {
  /** `capture`: the bytes are the body of a captured request, or a whole file read with --exact. */
  readonly kind: 'message' | 'capture';
  readonly origin: Origin;
  /**
   * The bytes of the entry as in the input, with the white space around them only for --exact. Callers may keep them,
   * because their memory is never overwritten. While they are kept, the part of the file around them (at most 1 MiB) stays
   * in memory.
   */
  readonly bytes: Uint8Array;
  /** The headers of a capture that is read with --exact. */
  readonly headers?: readonly HeaderPair[];
}

/** A part of the input that cannot be read as a message, with its error. Later entries are still read. */
export interface BrokenEntry {
  readonly kind: 'broken';
  readonly origin: Origin;
  readonly error: InputError;
}
