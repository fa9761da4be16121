import { CLOSE_BRACKET, COMMA, LF, OPEN_BRACE, OPEN_BRACKET, trimmedBytes } from './bytes.ts';
import { endsInBatchKey, endsInKeyBatch } from './batch-document.ts';
import { LinePosition } from './line-position.ts';
import { Pieces } from './pieces.ts';
import type { Splitter, SplitterOutput } from './splitter.ts';
import { ValueScan } from './value-scan.ts';

/**
 * between ── `{`, or a nested `[` ─► value ── closed ─► between      (an entry)
 *    │                                 ├── `"batch":[` ─► between    (the elements are entries; the object is not)
 *    │                                 └── not JSON ─► lost ── a line that begins an entry ─► between
 *    ├── anything else ─► scalar ── `,` `]` or the end of the line ─► between      (an entry, which the parser rejects)
 *    └── white space, `,`, `]`, and the `[` of an array of entries do not leave `between`
 */
type SplitterState = 'between' | 'value' | 'scalar' | 'lost';

/** A container of entries: an array, or the `batch` of an object, which can have more keys after it. */
interface Container {
  readonly kind: 'array' | 'batch';
  readonly line: number;
}

/** Stands in for the start of a batch document, so that the keys after its `batch` can be scanned as an object. */
const BEFORE_REST = Buffer.from('{"batch":0');
const NOTHING = Buffer.alloc(0);

/**
 * Splits JSON documents into entries that span lines or share a line: pretty-printed, in an array, in the `batch` of an
 * object, or one after another. Buffers only the current entry, even if the line is endless. Does not check commas between
 * entries: an extra or a missing comma loses no entry.
 */
export class DocumentSplitter implements Splitter {
  readonly #output: SplitterOutput;
  readonly #containers: Container[] = [];
  readonly #scan = new ValueScan();
  readonly #pieces = new Pieces();
  #state: SplitterState = 'between';
  /** Position that the splitter has reached. Within a value, only its line is up to date. */
  readonly #position: LinePosition;
  /** Index in this chunk at which the current entry starts. The next two fields are its line and the line's indentation. */
  #start = 0;
  #startLine = 1;
  #startIndent = 0;
  /** Whether the current value is the rest of a batch document: the keys after its array `batch`. */
  #isRest = false;
  /**
   * Whether a broken part was skipped. The part may have contained the closing bracket that then seems to be missing at the
   * end.
   */
  #hasLost = false;

  constructor(output: SplitterOutput, line = 1) {
    this.#output = output;
    this.#position = new LinePosition(line);
  }

  get line(): number {
    return this.#position.line;
  }

  push(chunk: Buffer): void {
    this.#start = 0;
    let at = 0;
    while (at < chunk.length) at = this.#step(chunk, at);
    if (this.#state === 'value' || this.#state === 'scalar') this.#pieces.add(chunk.subarray(this.#start));
  }

  end(): void {
    this.#start = 0;
    if (this.#state === 'scalar') this.#finish(NOTHING, 0);
    const unclosed = this.#containers.at(-1);
    if (this.#state === 'value') this.#endInValue();
    else if (unclosed !== undefined && !this.#hasLost) {
      this.#report(
        unclosed.line,
        `the ${unclosed.kind} that begins here is not closed: the input ends in it`,
      );
    }
  }

  /** Handles the end of the input inside a value. Emits a cut-off entry, because the parser reports best what is missing. */
  #endInValue(): void {
    if (this.#isRest) this.#lose('the batch whose rest begins here is not closed: the input ends in it');
    else this.#finish(NOTHING, 0);
  }

  /** Reads bytes from `at` until the state of the splitter changes or the chunk ends. Returns the index where it stopped. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'between':
        return this.#between(chunk, at);
      case 'value':
        return this.#inValue(chunk, at);
      case 'scalar':
        return this.#inScalar(chunk, at);
      case 'lost':
        return this.#findEntry(chunk, at);
      default:
        return this.#state satisfies never;
    }
  }

  #between(chunk: Buffer, at: number): number {
    if (this.#position.passBlank(chunk[at])) return at + 1;
    const isOutermost = this.#containers.length === 0;
    switch (chunk[at]) {
      case COMMA:
        return at + 1;
      case OPEN_BRACE:
        return this.#begin('value', at);
      case OPEN_BRACKET:
        if (!isOutermost) return this.#begin('value', at, OPEN_BRACKET);
        this.#containers.push({ kind: 'array', line: this.#position.line });
        return at + 1;
      case CLOSE_BRACKET:
        if (isOutermost) return this.#begin('scalar', at);
        return this.#containers.pop()?.kind === 'batch' ? this.#beginRest(at) : at + 1;
      default:
        return this.#begin('scalar', at);
    }
  }

  #begin(state: 'value' | 'scalar', at: number, bracket = OPEN_BRACE): number {
    this.#state = state;
    this.#start = at;
    this.#startLine = this.#position.line;
    this.#startIndent = this.#position.indent;
    this.#isRest = false;
    this.#scan.begin(bracket);
    return at + 1;
  }

  #beginRest(at: number): number {
    this.#begin('value', at);
    this.#start = at + 1;
    this.#pieces.add(BEFORE_REST);
    this.#isRest = true;
    return at + 1;
  }

  #inValue(chunk: Buffer, from: number): number {
    const event = this.#scan.scan(chunk, from);
    const { at } = this.#scan;
    this.#position.line = this.#startLine + this.#scan.lines;
    switch (event) {
      case 'more':
        return at;
      case 'closed':
        return this.#finish(chunk, at + 1);
      case 'list':
        return this.#isBatch(chunk, at) ? this.#enterBatch(at) : at;
      case 'no-key':
        return this.#beginInstead(chunk, at);
      case 'wrong':
        return this.#breakOff('its brackets do not match');
      case 'open-text':
        return this.#breakOff('a string is not closed');
      default:
        return event satisfies never;
    }
  }

  #breakOff(why: string): number {
    this.#lose(`the entry that begins here breaks off in line ${this.#position.line}: ${why}`);
    return this.#scan.at;
  }

  #finish(chunk: Buffer, end: number): number {
    const bytes = this.#pieces.take(chunk.subarray(this.#start, end));
    this.#state = 'between';
    if (this.#isRest) this.#isRest = false;
    else if (bytes === undefined) this.#output.tooLarge(this.#startLine);
    else this.#output.found(trimmedBytes(bytes), this.#startLine);
    return end;
  }

  #isBatch(chunk: Buffer, at: number): boolean {
    const last = chunk.subarray(this.#start, at - 1);
    // Joining the pieces is slow and an entry can have 100,000 arrays, so the pieces are joined only for an array that
    // may be the value of `batch`.
    const start = endsInKeyBatch(last) === false ? undefined : this.#pieces.with(last);
    return start !== undefined && endsInBatchKey(start);
  }

  #enterBatch(at: number): number {
    this.#pieces.clear();
    this.#state = 'between';
    this.#containers.push({ kind: 'batch', line: this.#position.line });
    return at;
  }

  /** Handles a `{` that cannot be part of the current entry: its nesting or its indentation decides if it begins another. */
  #beginInstead(chunk: Buffer, at: number): number {
    const indent = this.#indentBefore(chunk, at);
    const isEntry = this.#scan.depth === 1 || (indent !== undefined && indent <= this.#startIndent);
    const { line } = this.#position;
    this.#lose(`the entry that begins here is not closed: another \`{\` follows in line ${line}`);
    if (!isEntry) return at;
    this.#state = 'between';
    this.#position.indent = indent ?? this.#position.indent;
    return at;
  }

  /** The number of spaces and tabs before `at` on its line. Undefined if anything else precedes `at` on that line. */
  #indentBefore(chunk: Buffer, at: number): number | undefined {
    const before = this.#pieces.with(chunk.subarray(this.#start, at));
    const blanks = /\n([ \t]*)$/.exec(before?.subarray(-200).toString('latin1') ?? '');
    return blanks?.[1]?.length;
  }

  #lose(message: string): void {
    this.#report(this.#startLine, message);
    this.#pieces.clear();
    this.#state = 'lost';
    this.#hasLost = true;
    this.#position.isBlank = false;
  }

  /** Skips to the next line that begins like an entry and is not indented more than the line of the broken entry. */
  #findEntry(chunk: Buffer, at: number): number {
    if (!this.#position.isBlank) {
      const lineEnd = chunk.indexOf(LF, at);
      if (lineEnd === -1) return chunk.length;
      at = lineEnd;
    }
    const byte = chunk[at];
    if (this.#position.passBlank(byte)) return at + 1;
    const begins = byte === OPEN_BRACE || byte === OPEN_BRACKET || byte === CLOSE_BRACKET || byte === COMMA;
    if (begins && this.#position.indent <= this.#startIndent) this.#state = 'between';
    return at;
  }

  #inScalar(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      const isEnd =
        byte === LF || (this.#containers.length > 0 && (byte === COMMA || byte === CLOSE_BRACKET));
      if (isEnd) return this.#finish(chunk, at);
    }
    return chunk.length;
  }

  #report(line: number, message: string): void {
    this.#output.broken(
      line,
      message,
      'was the file cut off or edited by hand? The entries around it are read',
    );
  }
}
