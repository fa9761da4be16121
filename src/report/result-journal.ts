import { createReadStream } from 'node:fs';
import { InputError } from '../errors.ts';
import { OutputFile } from './output-file.ts';

/** Record of an entry that was not delivered. A resumed replay reports the entry again from this record. */
export interface KeptResult {
  /** Index of the entry over all inputs, from 0. */
  readonly index: number;
  readonly outcome: 'failed' | 'invalid' | 'filtered';
  /** The JSON result that was printed and reported. */
  readonly told: object;
}

/**
 * Stores the results of a replay that are neither delivered nor queued, one JSON object per line, next to its checkpoint.
 * The checkpoint has the number of valid bytes. A resumed replay cuts off the bytes after them, which a killed process
 * wrote.
 */
export class ResultJournal {
  readonly #path: string;
  #bytes: number;
  #syncedBytes: number;
  #file: Promise<OutputFile> | undefined;
  #pending: Promise<void> = Promise.resolve();

  /** Continues a journal whose first `bytes` are valid. Opens the file when the first result is added. */
  constructor(path: string, bytes = 0) {
    this.#path = path;
    this.#bytes = bytes;
    this.#syncedBytes = bytes;
  }

  /** Length of the file after all added results are written. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a result. Returns a promise that never rejects: wait for it before the next call. A failed write is reported by
   * `sync`, because a replay continues without its journal.
   */
  add(result: KeptResult): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(result)}\n`);
    const startsAt = this.#bytes;
    this.#bytes += line.length;
    this.#file ??= this.#open(startsAt);
    const file = this.#file;
    this.#pending = this.#pending.then(async () => (await file).add(line));
    return this.#pending.catch(() => {});
  }

  /** Resolves when all added results are on the disk, at once if there are none. Throws InputError if a write failed. */
  async sync(): Promise<void> {
    const bytes = this.#bytes;
    if (bytes === this.#syncedBytes) return;
    await this.#pending;
    await (await this.#file)?.sync();
    this.#syncedBytes = bytes;
  }

  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    this.#file = undefined;
    await file?.close().catch(() => {});
  }

  /** Reads the whole journal. Throws InputError if the journal is damaged. */
  async check(): Promise<void> {
    const results = this.read();
    while (!(await results.next()).done);
  }

  /** Yields the results of earlier processes. Throws InputError if the journal is damaged. */
  async *read(): AsyncGenerator<KeptResult, void, undefined> {
    if (this.#bytes === 0) return;
    const stream = createReadStream(this.#path, { encoding: 'utf8', end: this.#bytes - 1 });
    let rest = '';
    try {
      for await (const text of stream) {
        const lines = (rest + String(text)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield this.#parsed(line);
      }
    } catch (cause) {
      throw cause instanceof InputError ? cause : this.#damaged(cause);
    }
    if (rest !== '' || stream.bytesRead < this.#bytes) throw this.#damaged();
  }

  async #open(startsAt: number): Promise<OutputFile> {
    const file = await OutputFile.open(this.#path, 'append');
    await file.shorten(startsAt);
    return file;
  }

  #parsed(line: string): KeptResult {
    try {
      const value: unknown = JSON.parse(line);
      if (isKeptResult(value)) return value;
    } catch {
      // Text that is not JSON gets the error below, like JSON that is not a result.
    }
    throw this.#damaged();
  }

  #damaged(cause?: unknown): InputError {
    return new InputError('Not a readable journal of results', {
      file: this.#path,
      hint: 'replay without --resume to start at the beginning',
      cause,
    });
  }
}

function isKeptResult(value: unknown): value is KeptResult {
  if (typeof value !== 'object' || value === null) return false;
  const { index, outcome, told } = value as Partial<KeptResult>; // each field is validated
  const isOutcome = outcome === 'failed' || outcome === 'invalid' || outcome === 'filtered';
  return Number.isSafeInteger(index) && isOutcome && typeof told === 'object' && told !== null;
}
