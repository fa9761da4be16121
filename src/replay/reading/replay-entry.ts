import type { CaptureRequest } from '../../capture/capture.ts';
import type { InputError } from '../../errors.ts';

/** How `--exact` reads a file: `raw` as one request body, `ndjson` as one request body per line. */
export const EXACT_FORMATS = ['raw', 'ndjson'] as const;

export type ExactFormat = (typeof EXACT_FORMATS)[number];

/** The place of an entry. `line` is where the entry, or the batch that contains it, begins, from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
  /** Number of the request in a HAR file, from 1. A HAR file has one line or thousands, so its line numbers do not help. */
  readonly request?: number;
}

/** An entry of an input: the bytes of a message or body, or the error for a part that cannot be read. */
export type ReplayEntry = FoundEntry | BrokenEntry;

/**
 * The bytes of a JSON value or, with --exact, of any request body. Not parsed yet: `message/json/read-json.ts` parses the
 * bytes, and may reject them.
 */
export interface FoundEntry {
  /**
   * `capture`: the bytes are the body of a captured request, one message of the batch in it, or a whole file read with
   * --exact.
   */
  readonly kind: 'message' | 'capture';
  readonly origin: Origin;
  /**
   * The bytes, unchanged. They include surrounding white space only with --exact, or if they are the body of a capture.
   * Callers may keep the bytes, because their memory is never overwritten. This also keeps the part of the file around them
   * in memory, at most 1 MiB.
   */
  readonly bytes: Uint8Array;
  /** The captured request, if a capture is read with --exact. */
  readonly request?: Pick<CaptureRequest, 'method' | 'url' | 'headers'>;
}

/** A part of the input from which no message can be read. Entries after it are read if possible. */
export interface BrokenEntry {
  readonly kind: 'broken';
  readonly origin: Origin;
  readonly error: InputError;
}
