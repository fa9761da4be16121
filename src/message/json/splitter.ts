/** Cuts a stream of text into entries, whatever the sizes of its chunks. */
export interface Splitter {
  push(chunk: Buffer): void;
  /** The stream is complete. */
  end(): void;
  /** The current line, from 1. */
  readonly line: number;
}

/** Receives what a splitter finds. */
export interface SplitterOutput {
  /** The bytes of one value, without white space around; `line` is where it begins. */
  found(bytes: Buffer, line: number): void;
  /** Reports a part that begins at `line` and is not an entry: one sentence, and the hint. */
  broken(line: number, message: string, hint: string): void;
  tooLarge(line: number): void;
}
