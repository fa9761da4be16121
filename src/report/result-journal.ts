import { createReadStream } from 'node:fs';
import { InputError } from '../errors.ts';
import { OutputFile } from './output-file.ts';

/** What a journal keeps of an entry that was not delivered, so that a resumed replay can tell it again. */
export interface KeptResult {
  /** Of the entry, over all inputs, from 0. */
  readonly index: number;
  readonly outcome: 'failed' | 'invalid' | 'filtered';
  /** What is printed and reported of it, as JSON. */
  readonly told: object;
}

/**
 * The results of a replay that are neither delivered nor queued, a JSON object a line, beside its checkpoint. The checkpoint
 * says how far it is to be believed: what stands behind that was written by a killed process, and is cut off.
 */
export class ResultJournal {
  readonly #path: string;
  #bytes: number;
  #syncedBytes: number;
  #file: Promise<OutputFile> | undefined;
  #pending: Promise<void> = Promise.resolve();

  /** Of what is at `path` the first `bytes` count. The file is not made before there is something to keep. */
  constructor(path: string, bytes = 0) {
    this.#path = path;
    this.#bytes = bytes;
    this.#syncedBytes = bytes;
  }

  /** So long is the file with all that was added. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * A promise that never rejects when the disk is slower: wait for it before the next. What cannot be written is told by
   * `sync`, since a replay goes on without its journal.
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

  /** Resolves when all that was added before is on the disk; costs nothing when nothing was. Throws InputError. */
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

  /** What was kept before this process added to it. Throws InputError when it is not whole. */
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
      // Refused below, like any other text that is no result.
    }
    throw this.#damaged();
  }

  #damaged(cause?: unknown): InputError {
    return new InputError('is not a journal of results that can be read', {
      file: this.#path,
      hint: 'replay without --resume to start at the beginning',
      cause,
    });
  }
}

function isKeptResult(value: unknown): value is KeptResult {
  if (typeof value !== 'object' || value === null) return false;
  const { index, outcome, told } = value as Partial<KeptResult>; // each is looked at
  const isOutcome = outcome === 'failed' || outcome === 'invalid' || outcome === 'filtered';
  return Number.isSafeInteger(index) && isOutcome && typeof told === 'object' && told !== null;
}
