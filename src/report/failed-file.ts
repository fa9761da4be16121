import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { OutputFile } from './output-file.ts';
import { rejectOverwrite } from './reject-overwrite.ts';

const LF = Buffer.from('\n');
const NOTHING = Buffer.alloc(0);

/** Length and checksum of the failed entries in the file, to detect that another replay has written to the file. */
export interface FailedPosition {
  readonly bytes: number;
  readonly crc32: number;
}

const START: FailedPosition = { bytes: 0, crc32: 0 };

interface FailedFileOptions {
  /** Absolute paths of the inputs, which must not be overwritten because their messages would be lost. */
  readonly inputs: readonly string[];
  /**
   * End of the part that the replay wrote before it was resumed. The file keeps this part if the part is unchanged.
   * @default nothing
   */
  readonly kept?: FailedPosition | undefined;
  /**
   * Entries that the resumed replay sends again. Their lines after the kept part are removed, all other lines stay. @default
   * none
   */
  readonly resent?: AsyncIterable<Uint8Array> | undefined;
  /** Name of the file in errors. @default its path */
  readonly name?: string;
}

/**
 * The file of `--failed`: the entries that were not delivered, one per line, for another replay. Written continuously, so
 * that it survives a kill. Empty if everything was delivered.
 */
export class FailedFile {
  /** Whether the file still begins with the part `kept`, so that new entries follow that part. */
  readonly hasKept: boolean;
  readonly #file: OutputFile;
  #position: FailedPosition;
  #syncedBytes: number;
  #isWriting = false;

  /** Opens the file before anything is sent. Throws InputError if it cannot be written or is an input. */
  static async open(
    path: string,
    { inputs, kept, resent, name = path }: FailedFileOptions,
  ): Promise<FailedFile> {
    await rejectOverwrite(inputs, { path, name, flag: '--failed' });
    const hasKept = kept !== undefined && (await beginsWith(path, kept));
    const foreign = hasKept ? await foreignLines(path, kept.bytes, resent) : NOTHING;
    const file = await OutputFile.open(path, hasKept ? 'append' : 'overwrite', name);
    if (hasKept) await file.shorten(kept.bytes);
    await file.add(foreign);
    if (foreign.length > 0) await file.sync();
    return new FailedFile(file, hasKept, hasKept ? extended(kept, foreign) : START);
  }

  private constructor(file: OutputFile, hasKept: boolean, position: FailedPosition) {
    this.#file = file;
    this.hasKept = hasKept;
    this.#position = position;
    this.#syncedBytes = position.bytes;
  }

  /** Length and checksum of the failed entries. Unsent entries follow them in the file. */
  get position(): FailedPosition {
    return this.#position;
  }

  /**
   * Adds the bytes of an entry without its line breaks. Returns a promise if the disk is slower than the failures: wait for
   * it before the next call.
   */
  add(entry: Uint8Array): Promise<void> | undefined {
    const line = entryLine(entry);
    this.#position = extended(this.#position, line);
    const isFull = this.#file.add(line);
    if (isFull === undefined && !this.#isWriting) void this.#write();
    return isFull;
  }

  /**
   * Adds an entry that was not tried. A resumed replay removes the entry from the file and sends it. Do not call `add`
   * afterwards.
   */
  addUnsent(entry: Uint8Array): Promise<void> | undefined {
    return this.#file.add(entryLine(entry));
  }

  /**
   * Resolves when everything up to `position` is on the disk, at once if nothing was added. Throws InputError if the write
   * failed.
   */
  async sync(): Promise<void> {
    const { bytes } = this.#position;
    if (bytes === this.#syncedBytes) return;
    await this.#file.sync();
    this.#syncedBytes = bytes;
  }

  /** Closes the file. Throws InputError if some entries could not be written. */
  async close(): Promise<void> {
    await this.#file.close();
    this.#syncedBytes = this.#position.bytes;
  }

  /** Writes the pending entries. Entries that are added during the write wait for the next write. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#file.flush();
      this.#isWriting = false;
    } catch {
      // A failed write is ignored here, because every later write, including that of `close`, fails with the same error.
    }
  }
}

function extended(position: FailedPosition, lines: Uint8Array): FailedPosition {
  return { bytes: position.bytes + lines.length, crc32: crc32(lines, position.crc32) };
}

/**
 * Whether the file begins with bytes of this length and checksum. False for pipes, because reading would consume their
 * content.
 */
async function beginsWith(path: string, { bytes, crc32: expected }: FailedPosition): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size < bytes) return false;
  if (bytes === 0) return true;
  let actual = 0;
  try {
    for await (const chunk of createReadStream(path, { end: bytes - 1 })) {
      actual = crc32(chunk as Buffer, actual); // a stream without an encoding gives buffers
    }
  } catch {
    return false;
  }
  return actual === expected;
}

/**
 * Returns the lines after the kept part that a user has added. Leaves out the lines of `resent`, and the beginning of such a
 * line, which a killed replay did not finish.
 */
async function foreignLines(
  path: string,
  from: number,
  resent: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = [],
): Promise<Buffer> {
  const chunks: Buffer[] = await createReadStream(path, { start: from }).toArray();
  const text = Buffer.concat(chunks).toString('latin1');
  const lines = text.split('\n').filter((line) => line !== '');
  const foreign = new Set(lines);
  const last = text.endsWith('\n') ? undefined : lines.at(-1);
  if (foreign.size === 0) return NOTHING;
  for await (const entry of resent) {
    const line = entryLine(entry).subarray(0, -1).toString('latin1');
    foreign.delete(line);
    if (last !== undefined && line.startsWith(last)) foreign.delete(last);
    if (foreign.size === 0) break;
  }
  const kept = lines.filter((line) => foreign.has(line)).map((line) => `${line}\n`);
  return Buffer.from(kept.join(''), 'latin1');
}

/** An entry as a line. Removes line breaks, which are only white space in JSON. */
function entryLine(entry: Uint8Array): Buffer {
  return Buffer.concat([entry.some(isLineBreak) ? entry.filter((byte) => !isLineBreak(byte)) : entry, LF]);
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}
