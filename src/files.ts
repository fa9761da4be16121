import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

/*
 * Temporary files that a process writes until they are complete. Their names identify the process, so that a later process
 * can remove files that remain after a kill -9.
 */

const OWNER = /\.(\d{1,10})-([0-9a-f]{8})-\d+\.[a-z]+$/;

/**
 * Distinguishes this process from an earlier process with the same id, which is common in containers. Loads crypto on demand,
 * because help needs none.
 */
function ownRun(): string {
  return (knownRun ??= process.getBuiltinModule('node:crypto').randomBytes(4).toString('hex'));
}

let knownRun: string | undefined;

let count = 0;

/**
 * Makes a name that is unique to this process: `${prefix}.${process id}-${run}-${count}.${extension}`. The prefix may be a
 * path.
 */
export function ownedName(prefix: string, extension: string): string {
  count++;
  return `${prefix}.${process.pid}-${ownRun()}-${count}.${extension}`;
}

/** The id of the process that made this name. Undefined if `ownedName` did not make it. */
export function ownerOf(name: string): string | undefined {
  return OWNER.exec(name)?.[1];
}

/** Whether the process that made this name has ended. False if `ownedName` did not make the name. */
export function isAbandoned(name: string): boolean {
  const [, id = '', run] = OWNER.exec(name) ?? [];
  if (id === '' || run === ownRun()) return false;
  const pid = Number(id);
  return pid === process.pid || isProcessGone(pid);
}

/**
 * Names a hidden temporary file in the folder of `target`, on the same file system, so that a rename can replace `target`.
 */
export function temporaryFileBeside(target: string): string {
  return join(dirname(target), ownedName(hiddenPrefix(target), 'tmp'));
}

/**
 * Removes the temporary files of `target` whose processes have ended. Ignores files that it cannot remove, because they are
 * harmless.
 */
export async function removeAbandonedBeside(target: string): Promise<void> {
  const { readdir, rm } = process.getBuiltinModule('node:fs/promises');
  const folder = dirname(target);
  const prefix = `${hiddenPrefix(target)}.`;
  const names = await readdir(folder).catch(() => []);
  const abandoned = names.filter((name) => {
    // The journal that SQLite writes next to a temporary database file is removed as well.
    const made = name.replace(/-journal$/, '');
    const isTemporary = made.startsWith(prefix) && OWNER.exec(made)?.index === prefix.length - 1;
    return isTemporary && made.endsWith('.tmp') && isAbandoned(made);
  });
  await Promise.all(abandoned.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

/**
 * Writes a file atomically: no process ever finds a partial file under this name. By default only its owner can read it.
 * Throws the error of the file system, such as EEXIST if the file exists and `isReplaced` is false.
 */
export function writeInOnePiece(path: string, text: string, { isReplaced = false, mode = 0o600 } = {}): void {
  const fresh = temporaryFileBeside(path);
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode, flush: true });
    if (isReplaced) renameSync(fresh, path);
    else nameNewFile(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Gives a file a new name. Throws EEXIST if another file has the name. */
export function nameNewFile(fresh: string, path: string): void {
  try {
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error; // file operations throw only such errors
    // Renames the file instead, because some file systems do not support hard links.
    renameSync(fresh, path);
  }
}

/** Syncs a folder, so that a rename in it survives a power cut. Ignores file systems and users that cannot sync folders. */
export async function syncFolder(folder: string): Promise<void> {
  const { open } = process.getBuiltinModule('node:fs/promises');
  try {
    const handle = await open(folder, 'r');
    await handle.sync();
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') throw error; // file operations throw only such errors
  }
}

function hiddenPrefix(target: string): string {
  return `.${basename(target)}`;
}

/** Whether no process has this id. False for a process that this user may not signal, because such a process exists. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // process.kill throws only errors of kill(2)
  }
}

/**
 * Creates a folder (an absolute path) and its missing parents, each with `mode`. Node's own `recursive` never returns if
 * the system cannot create a folder in an existing folder, such as /proc. Throws the errors of `mkdir`.
 */
export function makeFolder(path: string, mode: number): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created the folder first.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/**
 * Size limit of files with settings, certificates, schemas or a capture: more than any such file has, but harmless to read.
 */
export const MOST_FILE_BYTES = 32 * 1024 * 1024;

/** Flags that open a pipe without waiting for its writer: a thread that waits would block even the exit of the process. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** Opens a file, a pipe (also `<(…)`) or a terminal as a stream that `signal` destroys. Throws the errors of `open`. */
export function openToRead(path: string, signal?: AbortSignal): Readable {
  const fd = openSync(path, AT_ONCE);
  const stream = streamOf(fd, path);
  return signal === undefined
    ? stream
    : process.getBuiltinModule('node:stream').addAbortSignal(signal, stream);
}

function streamOf(fd: number, path: string): Readable {
  const [net, tty] = [process.getBuiltinModule('node:net'), process.getBuiltinModule('node:tty')];
  if (tty.isatty(fd)) return new tty.ReadStream(fd);
  if (fstatSync(fd).isFIFO()) return new net.Socket({ fd, readable: true, writable: false });
  return createReadStream(path, { fd });
}

/** Reads all bytes of a stream. Throws the errors of the stream, and EFBIG beyond the limit without reading the rest. */
export async function readAtMost(limitBytes: number, open: () => Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of open()) {
    const data = chunk as Buffer; // a Buffer, because no encoding is set
    chunks.push(data);
    bytes += data.length;
    if (bytes > limitBytes) throw tooLarge(limitBytes);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a file as text, synchronously. Throws the errors of `node:fs`, and EFBIG for a file that is too large. Does not wait
 * for the writer of a pipe, but throws EAGAIN.
 */
export function readTextNow(path: string): string {
  const fd = openSync(path, AT_ONCE);
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= MOST_FILE_BYTES;) {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      const read = readSync(fd, chunk);
      if (read === 0) return Buffer.concat(chunks).toString();
      chunks.push(chunk.subarray(0, read));
      bytes += read;
    }
    throw tooLarge(MOST_FILE_BYTES);
  } finally {
    closeSync(fd);
  }
}

/** The error EFBIG with a message such as `larger than 64 KiB` or `larger than 32 MiB`. */
function tooLarge(limitBytes: number): NodeJS.ErrnoException {
  const kib = limitBytes / 1024;
  const limit = kib > 1024 ? `${kib / 1024} MiB` : `${kib} KiB`;
  return Object.assign(new Error(`larger than ${limit}`), { code: 'EFBIG' });
}
