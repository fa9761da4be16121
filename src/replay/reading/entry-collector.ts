import { captureBody } from '../../capture/capture.ts';
import type { HarNotes } from '../../capture/import/har-notes.ts';
import { isCapture, readCapture } from '../../capture/read-capture.ts';
import { HooksError, InputError } from '../../errors.ts';
import { OPEN_BRACE, QUOTE, trimmedBytes } from '../../message/json/bytes.ts';
import { DocumentSplitter } from '../../message/json/document-splitter.ts';
import { MAX_ENTRY_BYTES } from '../../message/json/pieces.ts';
import type { ExactFormat, FoundEntry, Origin, ReplayEntry } from './replay-entry.ts';
import { isBatchDocument, parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import type { SplitterOutput } from '../../message/json/splitter.ts';

export interface EntryReadOptions {
  /**
   * Makes each body (an input, a line or the body of a capture) a single entry, even if it is a batch or not JSON. The
   * body of a capture can be empty. @default false
   */
  readonly exact?: boolean;
  /** Format of the inputs, only with `exact`. @default recognized by the name and the content of each input */
  readonly format?: ExactFormat | undefined;
  /** Called with the number of (unpacked) bytes just read, before the entries found in these bytes are yielded. */
  readonly onBytes?: (bytes: number) => void;
  /** Called for each capture whose signature did not verify when the request arrived. */
  readonly onInvalidCapture?: (origin: Origin) => void;
  /** Collects what the user should know about HAR files. @default not collected */
  readonly harNotes?: HarNotes | undefined;
}

/**
 * Turns the values that a splitter finds into entries: a captured request into the messages of its body, and a batch on one
 * line into its messages. With `exact`, a captured request and a batch become one entry each.
 */
export class EntryCollector implements SplitterOutput {
  readonly #file: string;
  readonly #exact: boolean;
  readonly #onInvalidCapture: EntryReadOptions['onInvalidCapture'];
  #entries: ReplayEntry[] = [];
  /** Number, from 1, of the request in a HAR file from which the next entries come. Undefined for other files. */
  request: number | undefined;

  constructor(file: string, { exact = false, onInvalidCapture }: EntryReadOptions = {}) {
    this.#file = file;
    this.#exact = exact;
    this.#onInvalidCapture = onInvalidCapture;
  }

  /** Returns the entries found since the last call. */
  take(): readonly ReplayEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  found(bytes: Buffer, line: number): void {
    const mayHold = mayHoldMessages(this.#exact ? trimmedBytes(bytes) : bytes);
    const value = mayHold ? parseJsonOrUndefined(bytes) : undefined;
    if (isCapture(value)) this.#addCapture(value, line);
    else if (!this.#exact && isBatchDocument(value)) this.#addEach('message', bytes, line);
    else this.#add('message', bytes, line);
  }

  /** Adds a whole input as one entry. */
  body(bytes: Buffer): void {
    this.#add('capture', bytes, 1);
  }

  broken(line: number, message: string, hint: string): void {
    const origin = this.#origin(line);
    this.#entries.push({
      kind: 'broken',
      origin,
      error: new InputError(message, { file: this.#file, line, hint }),
    });
  }

  tooLarge(line: number): void {
    const limit = `${MAX_ENTRY_BYTES / 1024} KiB`;
    this.broken(
      line,
      `the entry that begins here is larger than ${limit}`,
      'a message may have 32 KiB at most',
    );
  }

  #add(kind: 'message' | 'capture', bytes: Uint8Array, line: number): void {
    this.#entries.push({ kind, origin: this.#origin(line), bytes });
  }

  #origin(line: number): Origin {
    const { request } = this;
    return { file: this.#file, line, ...(request !== undefined && { request }) };
  }

  #addCapture(value: unknown, line: number): void {
    const capture = this.#read(value, line);
    if (capture === undefined) return;
    const { body } = capture;
    if (this.#exact) {
      this.#entries.push({ kind: 'capture', origin: this.#origin(line), bytes: body, request: capture });
      return;
    }
    const content = parseJsonOrUndefined(body);
    if (Array.isArray(content) || isBatchDocument(content)) this.#addEach('capture', body, line);
    else this.#add('capture', body, line);
  }

  #read(value: unknown, line: number): CapturedEntry | undefined {
    try {
      const capture = readCapture(value);
      if (capture.verdict === 'invalid') this.#onInvalidCapture?.(this.#origin(line));
      const body = captureBody(capture);
      if (body.length > 0 || this.#exact) {
        const { method, url, headers } = capture;
        return { body: Buffer.from(body.buffer, body.byteOffset, body.length), method, url, headers };
      }
      this.broken(
        line,
        'the captured request has no body, so it contains no message',
        'leave this capture out',
      );
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      this.broken(line, error.message, error.hint ?? 'a capture is what `hooks listen --save` writes');
    }
    return undefined;
  }

  /** Adds each message of a batch or an array, all with the same origin. */
  #addEach(kind: 'message' | 'capture', bytes: Buffer, line: number): void {
    const splitter = new DocumentSplitter({
      found: (each) => this.#add(kind, each, line),
      broken: (_, message, hint) => this.broken(line, message, hint),
      tooLarge: () => this.tooLarge(line),
    });
    splitter.push(bytes);
    splitter.end();
  }
}

type CapturedEntry = NonNullable<FoundEntry['request']> & { readonly body: Buffer };

/** First four letters of keys that often come first in a message. Captures and batches are assumed not to begin with them. */
const MESSAGE_KEYS = new Set(
  ['version', 'type', 'userId', 'anonymousId', 'event', 'name', 'properties', 'previousId'].map((key) =>
    Buffer.from(key).readUInt32LE(),
  ),
);

/** Whether a value may be a capture or a batch document. For most messages, the first key rules this out cheaply. */
function mayHoldMessages(bytes: Buffer): boolean {
  if (bytes[0] !== OPEN_BRACE) return false;
  if (bytes[1] === QUOTE && bytes.length > 5 && MESSAGE_KEYS.has(bytes.readUInt32LE(2))) return false;
  return bytes.includes('"capture"') || bytes.includes('"batch"');
}
