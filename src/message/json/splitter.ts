/** Splits a stream of text into entries, independent of how it is chunked. */
export interface Splitter {
  push(chunk: Buffer): void;
  /** Emits the last entry after the last chunk. */
  end(): void;
  /** The line, from 1, that the splitter has reached. */
  readonly line: number;
  /** Whether the stream cannot be split at all. This is reported once, and the rest of the stream is ignored. */
  readonly isRejected?: boolean;
}

/** Receives the entries of a splitter. */
export interface SplitterOutput {
  /** Receives the bytes of one entry, trimmed; `line` is its first line. */
  found(bytes: Buffer, line: number): void;
  /** Receives a problem, as a sentence and a hint, for a part of the stream that begins at `line` and is not an entry. */
  broken(line: number, message: string, hint: string): void;
  tooLarge(line: number): void;
}
