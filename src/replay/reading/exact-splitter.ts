import { isCapture } from '../../capture/read-capture.ts';
import { InputError } from '../../errors.ts';
import { isObject } from '../../check-options.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { LF, skipBlanks } from '../../message/json/bytes.ts';
import { MAX_ENTRY_BYTES } from '../../message/json/pieces.ts';
import { bomLength } from '../../message/json/read-json.ts';
import type { Splitter } from '../../message/json/splitter.ts';
import type { EntryCollector } from './entry-collector.ts';
import { InputSplitter } from './input-splitter.ts';
import type { ExactFormat } from './replay-entry.ts';

/**
 * Reads an input of `--exact`: each line of NDJSON and each capture is an entry, any other input is one body with exactly its
 * bytes. Throws InputError for several lines of JSON that may be meant either way.
 */
export class ExactSplitter implements Splitter {
  readonly #file: string;
  readonly #output: EntryCollector;
  readonly #format: ExactFormat | undefined;
  /** Reads the input when it consists of captures or lines. */
  #entries: InputSplitter | undefined;
  /** Whether the first line is not known to be a part of a larger value. */
  #mayBeLines: boolean;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(file: string, output: EntryCollector, format?: ExactFormat) {
    this.#file = file;
    this.#output = output;
    this.#format = format ?? (/\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file) ? 'ndjson' : undefined);
    this.#mayBeLines = this.#format === undefined;
    if (this.#format === 'ndjson') this.#entries = new InputSplitter(output, { isExact: true });
  }

  get line(): number {
    return this.#entries?.line ?? 1;
  }

  get isRejected(): boolean {
    return this.#entries?.isRejected ?? this.#bytes > MAX_ENTRY_BYTES;
  }

  push(chunk: Buffer): void {
    if (this.#entries !== undefined) return this.#entries.push(chunk);
    this.#bytes += chunk.length;
    if (this.isRejected) return this.#output.tooLarge(1);
    this.#parts.push(chunk);
    if (this.#mayBeLines && chunk.includes(LF)) this.#readFirstLine();
  }

  end(): void {
    if (this.isRejected) return;
    if (this.#entries === undefined && this.#format === undefined) this.#recognize();
    if (this.#entries !== undefined) this.#entries.end();
    else if (this.#bytes > 0) this.#output.body(Buffer.concat(this.#parts));
  }

  /** Decides by the first line where it can, so that captures are streamed, and lines of a live pipe are rejected at once. */
  #readFirstLine(): void {
    const head = this.#head();
    const end = head.indexOf(LF, skipBlanks(head));
    if (end === -1) return;
    const first = parseJsonOrUndefined(head.subarray(0, end));
    if (isCapture(first)) this.#readEntries();
    this.#mayBeLines = isObject(first) || Array.isArray(first);
    if (this.#entries === undefined && this.#mayBeLines && skipBlanks(head, end) < head.length) {
      throw this.#severalLines();
    }
  }

  #recognize(): void {
    const head = this.#head();
    if (isCapture(firstValueIn(head))) return this.#readEntries();
    if (parseJsonOrUndefined(head) !== undefined) return;
    const lines = head.toString().split('\n').map(parseJsonOrUndefined);
    if (lines.filter((line) => isObject(line) || Array.isArray(line)).length > 1) throw this.#severalLines();
  }

  #readEntries(): void {
    this.#entries = new InputSplitter(this.#output);
    for (const part of this.#parts) this.#entries.push(part);
    this.#parts = [];
  }

  /** The bytes so far, without a byte order mark. */
  #head(): Buffer {
    const head = Buffer.concat(this.#parts);
    return head.subarray(bomLength(head));
  }

  #severalLines(): InputError {
    return new InputError('has several lines of JSON: one body, or a body per line?', {
      file: this.#file,
      hint: 'add --format ndjson to send each line, or --format raw to send the file as one body',
    });
  }
}

/** The first value of an array, of lines or of concatenated JSON. */
function firstValueIn(bytes: Buffer): unknown {
  let first: Buffer | undefined;
  const ignore = (): void => {};
  const found = (value: Buffer): void => void (first ??= value);
  const splitter = new InputSplitter({ found, broken: ignore, tooLarge: ignore });
  splitter.push(bytes);
  splitter.end();
  return first && parseJsonOrUndefined(first);
}
