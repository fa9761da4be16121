import { CR, LF, skipBlanks, trimmedBytes } from '../../message/json/bytes.ts';
import { DocumentSplitter } from '../../message/json/document-splitter.ts';
import { MAX_ENTRY_BYTES, Pieces } from '../../message/json/pieces.ts';
import { bomLength } from '../../message/json/read-json.ts';
import type { Splitter, SplitterOutput } from '../../message/json/splitter.ts';
import { HEAD_BYTES, replayLayoutOf } from './replay-layout.ts';
import {
  SIGNATURE_BYTES,
  inputRejectionOf,
  listRejectionOf,
  textRejectionOf,
  type InputRejection,
} from './text-check.ts';

/** Collects the first bytes of an input until they reveal its layout, and passes the input to the splitter for that layout. */
export class InputSplitter implements Splitter {
  readonly #output: SplitterOutput;
  readonly #isExact: boolean;
  #head: Buffer = Buffer.alloc(0);
  #line = 1;
  #isStarted = false;
  #splitter: Splitter | undefined;
  /** Whether the whole input was rejected, such as a zip file or HTML. This is reported once, and the rest is ignored. */
  isRejected = false;

  /** @param options.isExact makes each line that is not blank an entry, including its leading and trailing white space */
  constructor(output: SplitterOutput, { isExact = false } = {}) {
    this.#output = output;
    this.#isExact = isExact;
  }

  get line(): number {
    return this.#splitter?.line ?? this.#line;
  }

  push(chunk: Buffer): void {
    if (this.#splitter !== undefined) this.#splitter.push(chunk);
    else if (!this.isRejected) this.#gather(chunk);
  }

  end(): void {
    if (this.#splitter === undefined && !this.isRejected) this.#start(true);
    this.#splitter?.end();
  }

  #gather(chunk: Buffer): void {
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    if (!this.#isStarted && this.#head.length < SIGNATURE_BYTES) return;
    // Examines `#head` again only after a line break or when it has HEAD_BYTES bytes. Examining it after every chunk would
    // take quadratic time for a stream of single bytes.
    if (!this.#isStarted || this.#head.length >= HEAD_BYTES || chunk.includes(LF)) this.#start(false);
  }

  #start(isComplete: boolean): void {
    if (!this.#isStarted && !this.#accept()) return;
    const start = this.#dropBlankLines();
    // Waits while `#head` has only white space, which counts toward the size of the next entry. If the white space exceeds
    // the maximum size of an entry, reads the input as lines at once, because each wait scans all the white space again.
    if (start === this.#head.length && start <= MAX_ENTRY_BYTES) return;
    const isByLine = this.#isExact || start > MAX_ENTRY_BYTES;
    const layout = isByLine ? 'lines' : replayLayoutOf(this.#head.subarray(start), isComplete);
    if (layout === undefined) return;
    const text = this.#head.toString('latin1', start, start + HEAD_BYTES);
    if (this.#reject(layout === 'lines' ? textRejectionOf(text) : listRejectionOf(text))) return;
    this.#splitter =
      layout === 'lines'
        ? new LineSplitter(this.#output, this.#line, this.#isExact ? withoutLineEnd : trimmedBytes)
        : new DocumentSplitter(this.#output, this.#line);
    this.#splitter.push(this.#head);
    this.#head = Buffer.alloc(0);
  }

  #accept(): boolean {
    this.#isStarted = true;
    const rejection = inputRejectionOf(this.#head);
    this.#head = this.#head.subarray(bomLength(this.#head));
    return !this.#reject(rejection);
  }

  #reject(rejection: InputRejection | undefined): boolean {
    if (rejection === undefined) return false;
    this.isRejected = true;
    this.#output.broken(this.#line, `the input ${rejection.message}`, rejection.hint);
    return true;
  }

  /**
   * Drops the leading blank lines of `#head`. Keeps the indentation of the next line, because --exact sends it. Returns the
   * index of the first byte that is not white space, or the length of `#head` if all are.
   */
  #dropBlankLines(): number {
    const start = skipBlanks(this.#head);
    const lineStart = this.#head.subarray(0, start).lastIndexOf(LF) + 1;
    for (let at = 0; at < lineStart; at++) if (this.#head[at] === LF) this.#line++;
    this.#head = this.#head.subarray(lineStart);
    return start - lineStart;
  }
}

/** Splits NDJSON: every line that is not blank is a separate entry, so a broken line does not affect others. */
class LineSplitter implements Splitter {
  readonly #output: SplitterOutput;
  /** The beginning of a line that ends in a later chunk. */
  readonly #pieces = new Pieces();
  readonly #cut: typeof trimmedBytes;
  #line: number;

  constructor(output: SplitterOutput, line: number, cut: typeof trimmedBytes) {
    this.#output = output;
    this.#line = line;
    this.#cut = cut;
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
    const line = this.#pieces.isEmpty ? this.#cut(chunk, from, to) : this.#joined(chunk.subarray(from, to));
    if (line === undefined || to - from > MAX_ENTRY_BYTES) this.#output.tooLarge(this.#line);
    else if (skipBlanks(line) < line.length) this.#output.found(line, this.#line);
  }

  #joined(last: Buffer): Buffer | undefined {
    const whole = this.#pieces.take(last);
    return whole && this.#cut(whole);
  }
}

/** Returns the line `bytes[from, to)`, which does not include a line feed, without the CR at its end. */
function withoutLineEnd(bytes: Buffer, from = 0, to = bytes.length): Buffer {
  return bytes.subarray(from, bytes[to - 1] === CR && to > from ? to - 1 : to);
}
