import { OutputFile } from './output-file.ts';
import { refuseToOverwrite } from './refuse-to-overwrite.ts';

const LF = Buffer.from('\n');

interface FailedFileOptions {
  /** Absolute paths of what is being replayed: writing over it would lose the messages. */
  readonly inputs: readonly string[];
  /** What is in the file stays, up to so many bytes: a resumed replay adds to what failed before. @default 0 */
  readonly keepBytes?: number;
  /** As errors show it. @default its path */
  readonly name?: string;
}

/**
 * The file of `--failed`: what was not delivered, an entry a line, to be replayed again. It is written as it goes, so
 * that it outlives a kill; it is empty when everything was delivered.
 */
export class FailedFile {
  readonly #file: OutputFile;
  #bytes: number;
  #isWriting = false;

  /** Throws InputError when it cannot be written or is an input: before anything is sent. */
  static async open(
    path: string,
    { inputs, keepBytes = 0, name = path }: FailedFileOptions,
  ): Promise<FailedFile> {
    await refuseToOverwrite(inputs, { path, name, flag: '--failed' });
    const file = await OutputFile.open(path, keepBytes > 0 ? 'append' : 'overwrite', name);
    return new FailedFile(file, await file.shorten(keepBytes));
  }

  private constructor(file: OutputFile, bytes: number) {
    this.#file = file;
    this.#bytes = bytes;
  }

  /** So long is the file with all that was added. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The bytes of an entry; exactly these, but for line breaks between its tokens. A promise when the disk is slower
   * than the failures: wait for it before the next.
   */
  add(entry: Uint8Array): Promise<void> | undefined {
    const line = Buffer.concat([onOneLine(entry), LF]);
    this.#bytes += line.length;
    const isFull = this.#file.add(line);
    if (isFull === undefined && !this.#isWriting) void this.#write();
    return isFull;
  }

  /** Throws InputError when it could not be written. */
  close(): Promise<void> {
    return this.#file.close();
  }

  /** What comes while this is under way is gathered, and written with the first that comes after. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#file.flush();
      this.#isWriting = false;
    } catch {
      // Every later write fails as this one did, `close` included, and says so.
    }
  }
}

/** A line break in valid JSON is white space: without it the entry is the same, on one line. */
function onOneLine(entry: Uint8Array): Uint8Array {
  return entry.some(isLineBreak) ? entry.filter((byte) => !isLineBreak(byte)) : entry;
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}
