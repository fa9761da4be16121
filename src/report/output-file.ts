import { constants } from 'node:fs';
import { lstat, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { InputError } from '../errors.ts';
import { fileProblem } from '../file-problem.ts';

/** Bytes to collect before a write. */
const BUFFER_BYTES = 256 * 1024;

/** A file that is written sequentially in large pieces. */
export class OutputFile {
  readonly #path: string;
  readonly #name: string;
  readonly #handle: FileHandle;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  /**
   * Opens a file that only its owner can access. Throws InputError with `name` if it cannot be written or is a symbolic link
   * to a file.
   */
  static async open(path: string, mode: OpenMode, name = path): Promise<OutputFile> {
    const isLink = await rejectLink(path, name);
    const flags = constants.O_WRONLY | FLAGS[mode] | (isLink ? 0 : constants.O_NOFOLLOW);
    try {
      return new OutputFile(await openPrivate(path, flags), path, name);
    } catch (cause) {
      throw unwritableFile(name, cause, path);
    }
  }

  private constructor(handle: FileHandle, path: string, name: string) {
    this.#handle = handle;
    this.#path = path;
    this.#name = name;
  }

  /** Truncates the file to at most `bytes`. Returns its length. */
  async shorten(bytes: number): Promise<number> {
    const { size } = await this.#handle.stat();
    if (size > bytes) await this.#handle.truncate(bytes);
    return Math.min(size, bytes);
  }

  /** Adds bytes. Returns a promise if enough bytes are collected for a write: wait for it before the next call. */
  add(bytes: Uint8Array): Promise<void> | undefined {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    return this.#pendingBytes < BUFFER_BYTES ? undefined : this.flush();
  }

  /** Writes the collected bytes. Throws InputError if the write fails, usually because the disk is full. */
  flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#writing = this.#writing.then(() => this.#write(bytes, null));
    return this.#writing;
  }

  /** Overwrites the bytes at `position`. */
  async replace(position: number, bytes: Uint8Array): Promise<void> {
    await this.flush();
    await this.#write(bytes, position);
  }

  /**
   * Sets the mode of a file that will be committed to a repository. Ignores errors of file systems without modes. @default
   * the mode of a new file
   */
  async share(mode = 0o666 & ~process.umask()): Promise<void> {
    await this.#handle.chmod(mode).catch(() => {});
  }

  /** Writes the collected bytes and syncs the file. Throws InputError if that fails. */
  async sync(): Promise<void> {
    await this.flush();
    try {
      await this.#handle.sync().catch(ignoreUnsupported);
    } catch (cause) {
      throw unwritableFile(this.#name, cause, this.#path);
    }
  }

  /**
   * Syncs and closes the file. Removes a file that a full disk left empty, which would look as if there was nothing to
   * write.
   */
  async close(): Promise<void> {
    try {
      await this.sync();
    } catch (error) {
      const found = await this.#handle.stat();
      if (found.isFile() && found.size === 0) await rm(this.#path, { force: true });
      throw error;
    } finally {
      await this.#handle.close();
    }
  }

  /** Writes all bytes. Continues after a partial write, because a full disk accepts a part before it fails. */
  async #write(bytes: Uint8Array, position: number | null): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const at = position === null ? null : position + done;
        done += (await this.#handle.write(bytes, done, bytes.length - done, at)).bytesWritten;
      }
    } catch (cause) {
      throw unwritableFile(this.#name, cause, this.#path);
    }
  }
}

/** How to open a file. `new` fails if the file exists. */
type OpenMode = 'overwrite' | 'append' | 'new';

const FLAGS = {
  overwrite: constants.O_CREAT | constants.O_TRUNC,
  append: constants.O_CREAT | constants.O_APPEND,
  new: constants.O_CREAT | constants.O_EXCL,
} as const satisfies Record<OpenMode, number>;

async function openPrivate(path: string, flags: number): Promise<FileHandle> {
  const reader = await awaitReader(path);
  const handle = await open(path, flags, 0o600);
  await reader?.close();
  const found = await handle.stat();
  // An existing file can have another mode. Errors of file systems without modes are ignored.
  if (found.isFile() && (found.mode & 0o077) !== 0) await handle.chmod(0o600).catch(() => {});
  return handle;
}

/** Milliseconds to wait for the reader of a pipe. */
const READER_WAIT_MS = 5_000;
const READER_RETRY_MS = 50;

/**
 * Opens a named pipe once a program reads from it. The usual way of opening a pipe blocks a thread until then, and a blocked
 * thread would delay the end of the process. Returns undefined for anything else. Throws ENXIO if no program reads from the
 * pipe in time.
 */
async function awaitReader(path: string): Promise<FileHandle | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFIFO() !== true) return undefined;
  for (let waitedMs = 0; ; waitedMs += READER_RETRY_MS) {
    try {
      return await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // of a file operation
      if (code !== 'ENXIO' || waitedMs >= READER_WAIT_MS) throw error;
    }
    await setTimeout(READER_RETRY_MS);
  }
}

/**
 * Throws InputError for a symbolic link to a file, a folder or nothing, because the user who made the link could choose the
 * file to overwrite. Returns true for a link to a pipe or a terminal, such as /dev/stdout, which is safe, and false if there
 * is no link.
 */
export async function rejectLink(path: string, name: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return false;
  const target = await stat(path).catch(() => undefined);
  if (target !== undefined && !target.isFile() && !target.isDirectory()) return true;
  throw new InputError('Cannot be written: it is a symbolic link', {
    file: name,
    hint: 'name the file itself; symbolic links are not followed',
  });
}

/** Ignores the error of syncing a pipe or a device, and throws all others. */
function ignoreUnsupported(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error;
}

/** Makes the error of a file that cannot be written from the error of `node:fs`. The sentence names the file `file`. */
export function unwritableFile(file: string, cause: unknown, path = file): InputError {
  const { what, fix } = fileProblem(cause, path, 'write');
  return new InputError(`Cannot be written: ${what}`, {
    file,
    hint: `${fix}, or name a file elsewhere`,
    cause,
  });
}
