import { isCapture } from '../../capture/read-capture.ts';
import { InputError } from '../../errors.ts';
import { isObject } from '../../validate-options.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { LF } from '../../message/json/bytes.ts';
import { MAX_ENTRY_BYTES } from '../../message/json/pieces.ts';
import { bomLength } from '../../message/json/read-json.ts';
import type { Splitter } from '../../message/json/splitter.ts';
import type { EntryCollector } from './entry-collector.ts';
import { InputSplitter } from './input-splitter.ts';
import type { ExactFormat } from './replay-entry.ts';

/**
 * Splits an input of `--exact`. Each capture is an entry, and so is each line if the format or the file name says NDJSON.
 * Any other input, and every input of the format `raw`, is one entry with exactly its bytes. Without a format, throws
 * InputError for several lines of JSON, because they may be one body or a body per line.
 */
export class ExactSplitter implements Splitter {
  readonly #file: string;
  readonly #output: EntryCollector;
  readonly #format: ExactFormat | undefined;
  /** The splitter for captures or lines. Undefined for other inputs, and until the format is recognized. */
  #entries: InputSplitter | undefined;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(file: string, output: EntryCollector, format?: ExactFormat) {
    this.#file = file;
    this.#output = output;
    this.#format = format ?? (/\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file) ? 'ndjson' : undefined);
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
    // Tries to recognize the format at line breaks, not only at the end of the input, so that captures are streamed and an
    // ambiguous live input is rejected early.
    if (chunk.includes(LF)) this.#recognize();
  }

  end(): void {
    if (this.isRejected) return;
    this.#recognize();
    if (this.#entries !== undefined) this.#entries.end();
    else if (this.#bytes > 0) this.#output.body(Buffer.concat(this.#parts));
  }

  #recognize(): void {
    if (this.#entries !== undefined || this.#format === 'raw') return;
    const bytes = Buffer.concat(this.#parts);
    const head = bytes.subarray(bomLength(bytes));
    if (isCapture(firstValueIn(head))) {
      this.#entries = new InputSplitter(this.#output);
      this.#entries.push(bytes);
      this.#parts = [];
    } else if (holdsLines(head)) {
      throw new InputError('Several lines of JSON: one body, or a body per line?', {
        file: this.#file,
        hint: 'add --format ndjson to send each line, or --format raw to send the file as one body',
      });
    }
  }
}

function ignore(): void {}

/** Returns the first value of an array, of NDJSON or of concatenated JSON. Undefined if it is not valid JSON. */
function firstValueIn(bytes: Buffer): unknown {
  let first: Buffer | undefined;
  const found = (value: Buffer): void => void (first ??= value);
  const splitter = new InputSplitter({ found, broken: ignore, tooLarge: ignore });
  splitter.push(bytes);
  splitter.end();
  return first && parseJsonOrUndefined(first);
}

/** Whether the first line is a complete object or array, and more lines follow. */
function holdsLines(head: Buffer): boolean {
  const [first = '', ...rest] = head.toString().trim().split('\n');
  const value = parseJsonOrUndefined(first);
  return rest.length > 0 && (isObject(value) || Array.isArray(value));
}
