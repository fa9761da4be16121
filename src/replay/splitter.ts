/** Cuts a stream of text into entries, whatever the sizes of its chunks. */
export interface Splitter {
  push(chunk: Buffer): void;
  /** The stream is complete. */
  end(): void;
  /** The line it has come to, from 1. */
  readonly line: number;
}

/** Where a splitter puts what it finds. */
export interface SplitterOutput {
  /** The bytes of one value, without white space around; `line` is where it begins. */
  found(bytes: Buffer, line: number): void;
  /** Something that begins at `line` is no entry: one sentence, and the way out. */
  broken(line: number, message: string, hint: string): void;
  tooLarge(line: number): void;
}
