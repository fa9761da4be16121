import { LF, trimmedBytes } from '../../message/json/bytes.ts';
import { MAX_ENTRY_BYTES, Pieces } from '../../message/json/pieces.ts';
import type { Splitter, SplitterOutput } from '../../message/json/splitter.ts';

/** Splits NDJSON: every line that is not blank is a separate entry, so a broken line loses only itself. */
export class LineSplitter implements Splitter {
  readonly #output: SplitterOutput;
  /** The beginning of a line that ends in a later chunk. */
  readonly #pieces = new Pieces();
  #line: number;

  constructor(output: SplitterOutput, line = 1) {
    this.#output = output;
    this.#line = line;
  }

  get line(): number {
    return this.#line;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#emit(chunk, start, end);
      this.#line++;
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.add(chunk.subarray(start));
  }

  end(): void {
    this.#emit(Buffer.alloc(0), 0, 0);
  }

  #emit(chunk: Buffer, from: number, to: number): void {
    const line = this.#pieces.isEmpty
      ? trimmedBytes(chunk, from, to)
      : this.#joined(chunk.subarray(from, to));
    if (line === undefined || line.length > MAX_ENTRY_BYTES) this.#output.tooLarge(this.#line);
    else if (line.length > 0) this.#output.found(line, this.#line);
  }

  #joined(last: Buffer): Buffer | undefined {
    const whole = this.#pieces.take(last);
    return whole && trimmedBytes(whole);
  }
}
