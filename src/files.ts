import { randomBytes } from 'node:crypto';
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
 * Temporary files that a process writes until they are complete. Their names identify the process, so that a later one can
 * remove what a kill -9 has left behind.
 */

const OWNER = /\.(\d{1,10})-([0-9a-f]{8})-\d+\.[a-z]+$/;

/** Distinguishes this process from an earlier one with the same id, which is the rule in a container. */
const RUN = randomBytes(4).toString('hex');

let count = 0;

/** Returns a name unique to this process: `${prefix}.${process id}-${run}-${count}.${extension}`; the prefix may be a path. */
export function ownedName(prefix: string, extension: string): string {
  count++;
  return `${prefix}.${process.pid}-${RUN}-${count}.${extension}`;
}

/** The id of the process that made this name; undefined for a name that `ownedName` did not make. */
export function ownerOf(name: string): string | undefined {
  return OWNER.exec(name)?.[1];
}

/** Whether the process that made this name has ended. False for a name that `ownedName` did not make. */
export function isAbandoned(name: string): boolean {
  const [, id = '', run] = OWNER.exec(name) ?? [];
  if (id === '' || run === RUN) return false;
  const pid = Number(id);
  return pid === process.pid || isProcessGone(pid);
}

/** Names a hidden temporary file in the folder of `target`, on the same file system, so that a rename can replace `target`. */
export function temporaryFileBeside(target: string): string {
  return join(dirname(target), ownedName(hiddenPrefix(target), 'tmp'));
}

/** Removes the temporary files of `target` whose processes have ended. Ignores files that it cannot remove: they do no harm. */
export async function removeAbandonedBeside(target: string): Promise<void> {
  const { readdir, rm } = process.getBuiltinModule('node:fs/promises');
  const folder = dirname(target);
  const prefix = `${hiddenPrefix(target)}.`;
  const names = await readdir(folder).catch(() => []);
  const abandoned = names.filter((name) => {
    // SQLite keeps a journal beside a file.
    const made = name.replace(/-journal$/, '');
    const isTemporary = made.startsWith(prefix) && OWNER.exec(made)?.index === prefix.length - 1;
    return isTemporary && made.endsWith('.tmp') && isAbandoned(made);
  });
  await Promise.all(abandoned.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

/**
 * Writes a file for its owner only, in one piece: no other process, and no later one, finds a part of it under this name.
 * Throws the error of the file system: EEXIST for a file that is there, unless it is replaced.
 */
export function writeInOnePiece(path: string, text: string, { isReplaced = false } = {}): void {
  const fresh = temporaryFileBeside(path);
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600, flush: true });
    if (isReplaced) renameSync(fresh, path);
    else nameNewFile(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Gives a file a name that no file has. Throws EEXIST. */
export function nameNewFile(fresh: string, path: string): void {
  try {
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error; // of a file operation
    // Some file systems have no hard links.
    renameSync(fresh, path);
  }
}

/** Syncs a folder, so that a rename in it survives a power cut. Not every file system can, nor every user. */
export async function syncFolder(folder: string): Promise<void> {
  const { open } = process.getBuiltinModule('node:fs/promises');
  try {
    const handle = await open(folder, 'r');
    await handle.sync();
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') throw error; // of a file operation
  }
}

function hiddenPrefix(target: string): string {
  return `.${basename(target)}`;
}

/** Whether no process has this id. One that this user may not signal exists. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // of kill(2)
  }
}

/**
 * Makes a folder (an absolute path) and its missing parents, each with `mode`. Node's own `recursive` never returns where
 * the system cannot make a folder in an existing one, as in /proc. Throws what `mkdir` throws.
 */
export function makeFolder(path: string, mode: number): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it first.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** The most that a file of settings, certificates, schemas or a capture may hold: more than any has, less than would harm. */
export const MOST_FILE_BYTES = 32 * 1024 * 1024;

/** Opens a file so that nothing waits in a thread for the writer of a pipe: such a thread holds up even the end of the process. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** Opens a file, a pipe (`<(…)` too) or a terminal as a stream that `signal` destroys. Throws what `open` throws. */
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

/** Reads all bytes of a stream. Throws what the stream throws, and EFBIG as soon as they are more than the limit: the rest is not read. */
export async function readAtMost(limitBytes: number, open: () => Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of open()) {
    const data = chunk as Buffer; // no encoding is set
    chunks.push(data);
    bytes += data.length;
    if (bytes > limitBytes) throw tooLarge(limitBytes);
  }
  return Buffer.concat(chunks);
}

/** Reads a file as text at once. Throws what `node:fs` throws, EFBIG, and EAGAIN for a pipe, whose writer it does not wait for. */
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

/** Its message says `larger than 64 KiB`, `larger than 32 MiB`. */
function tooLarge(limitBytes: number): NodeJS.ErrnoException {
  const kib = limitBytes / 1024;
  const limit = kib > 1024 ? `${kib / 1024} MiB` : `${kib} KiB`;
  return Object.assign(new Error(`larger than ${limit}`), { code: 'EFBIG' });
}

const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read by this user',
  EAGAIN: 'it is a pipe',
};

/** Says in words why a file cannot be read. */
export function unreadableReason(error: unknown): string {
  const { code = 'unknown', message } = error as NodeJS.ErrnoException; // of a file operation
  return code === 'EFBIG' ? message : (WHY_NOT[code] ?? code);
}
