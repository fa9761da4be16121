import { open, type FileHandle } from 'node:fs/promises';
import { InputError } from '../errors.ts';

/** So much is gathered before it is written. */
const BUFFER_BYTES = 256 * 1024;

/** A file that is written from its beginning to its end, in large pieces. Opening it shows whether it can be written. */
export class OutputFile {
  readonly #name: string;
  readonly #handle: FileHandle;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  /** `flags` and `mode` as for `fs.open`. Throws InputError, which calls the file `name`. */
  static async open(path: string, flags: string, name = path, mode?: number): Promise<OutputFile> {
    try {
      return new OutputFile(await open(path, flags, mode), name);
    } catch (cause) {
      throw unwritable(name, cause);
    }
  }

  private constructor(handle: FileHandle, name: string) {
    this.#handle = handle;
    this.#name = name;
  }

  /** Leaves at most so much of what is in it. Answers how long it is. */
  async shorten(bytes: number): Promise<number> {
    const { size } = await this.#handle.stat();
    if (size > bytes) await this.#handle.truncate(bytes);
    return Math.min(size, bytes);
  }

  /** A promise when enough is gathered to be written: wait for it before the next. */
  add(bytes: Uint8Array): Promise<void> | undefined {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    return this.#pendingBytes < BUFFER_BYTES ? undefined : this.flush();
  }

  /** Writes what is gathered. Throws InputError: a full disk, mostly. */
  flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#writing = this.#writing.then(() => this.#write(bytes, null));
    return this.#writing;
  }

  /** Writes over what is at `position`. */
  async replace(position: number, bytes: Uint8Array): Promise<void> {
    await this.flush();
    await this.#write(bytes, position);
  }

  /** Writes what is gathered, and has it on the disk. Throws InputError. */
  async sync(): Promise<void> {
    await this.flush();
    try {
      await this.#handle.sync().catch(ignoreUnsupported);
    } catch (cause) {
      throw unwritable(this.#name, cause);
    }
  }

  /** Ends it, and has it on the disk. */
  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      await this.#handle.close();
    }
  }

  /** A full disk writes a part before it fails, so every count is looked at. */
  async #write(bytes: Uint8Array, position: number | null): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const at = position === null ? null : position + done;
        done += (await this.#handle.write(bytes, done, bytes.length - done, at)).bytesWritten;
      }
    } catch (cause) {
      throw unwritable(this.#name, cause);
    }
  }
}

/** A pipe or a device has nothing to be synced. */
function ignoreUnsupported(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error;
}

const REASONS: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOENT: ['cannot be written: there is no such folder', 'make the folder first'],
  ENOTDIR: ['cannot be written: a part of its path is not a folder', 'name a file in a folder'],
  EISDIR: ['cannot be written: it is a folder', 'name a file in it'],
  EACCES: ['cannot be written: not allowed', 'name a file in a folder that may be written'],
  EPERM: ['cannot be written: not allowed', 'name a file in a folder that may be written'],
  EROFS: ['cannot be written: its file system is read-only', 'name a file elsewhere'],
  ENOSPC: ['cannot be written further: the disk is full', 'make room, or name a file elsewhere'],
};

export function unwritable(file: string, cause: unknown): InputError {
  const { code, message } = cause as NodeJS.ErrnoException; // of a file operation
  const [reason, hint] = REASONS[code ?? ''] ?? [
    `cannot be written (${code ?? message})`,
    'name another file',
  ];
  return new InputError(reason, { file, hint, cause });
}
