import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ownedName } from './files.ts';

/** Why a file cannot be used. */
export interface UnusableReason {
  /** The end of a sentence such as `FILE cannot be written: …`. */
  readonly what: string;
  /** The first half of a hint: a clause with an imperative verb. The caller adds the flag or variable that names another file. */
  readonly fix: string;
}

/** `make` is for a folder, whose missing parents are made too. */
type FileUse = 'read' | 'write' | 'make';

const PERMISSION: UnusableReason = {
  what: 'this user has no permission',
  fix: 'check who owns it and its mode (ls -ld)',
};

/** The sentences for all errors of the file system, by code. */
const PROBLEMS: Readonly<Record<string, UnusableReason>> = {
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS: { what: 'its file system is read-only', fix: 'mount it writable' },
  ENOSPC: { what: 'the disk is full', fix: 'make room' },
  EDQUOT: { what: 'the disk quota of this user is used up', fix: 'make room' },
  EFBIG: {
    what: 'it would be larger than this process may write',
    fix: 'raise the limit (ulimit -f)',
  },
  ENOENT: { what: 'there is no such file', fix: 'check its path' },
  ENOTDIR: { what: 'a part of its path is not a folder', fix: 'check its path' },
  EEXIST: { what: 'it exists and is not a folder', fix: 'check its path' },
  EISDIR: { what: 'it is a folder', fix: 'name a file in it' },
  ENAMETOOLONG: { what: 'its name is too long', fix: 'choose a shorter name' },
  ELOOP: { what: 'a symbolic link in its path is not followed', fix: 'name the file itself' },
  EMFILE: { what: 'this process has too many files open', fix: 'raise the limit (ulimit -n)' },
  ENFILE: { what: 'this machine has too many files open', fix: 'end other programs' },
  EIO: { what: 'the disk reports an error', fix: 'check the disk, its quota and its mount' },
  ENXIO: { what: 'no program reads from this pipe', fix: 'start its reader first' },
  EAGAIN: { what: 'it is a pipe', fix: 'name a file' },
};

const NOT_MAKEABLE: UnusableReason = { what: 'no folder can be made there', fix: 'name a writable folder' };
const NO_FOLDER: UnusableReason = { what: 'there is no such folder', fix: 'make the folder first' };

const NO_HOME: UnusableReason = {
  what: 'there is no such file: ~ was not replaced by the home folder',
  fix: 'remove the quotes around it, or write $HOME',
};

/** Whether the error is one of the file system that has a sentence here. */
export function isFileProblem(error: unknown): boolean {
  return PROBLEMS[codeOf(error)] !== undefined;
}

/** Returns why a file or folder cannot be used. `error` is an error of `node:fs`. */
export function fileProblem(error: unknown, path: string, use: FileUse): UnusableReason {
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM') return { ...PERMISSION, what: denial(resolve(path), use) };
  if (code === 'ENOENT' && /(?:^|\/)~/.test(path)) return NO_HOME;
  if (code === 'ENOENT' && use === 'make') return NOT_MAKEABLE;
  if (code === 'ENOENT' && use === 'write') return NO_FOLDER;
  // The limits of this program (`readAtMost`) have a message of their own.
  const { message, syscall } = error as NodeJS.ErrnoException; // file operations throw only such errors
  if (code === 'EFBIG' && syscall === undefined) return { what: message, fix: 'name a smaller file' };
  return PROBLEMS[code] ?? { what: code === '' ? message : code, fix: 'check its path' };
}

/** Explains in words why a file cannot be read. */
export function unreadableReason(error: unknown, path = pathOf(error)): string {
  const { what, fix } = fileProblem(error, path, 'read');
  return what === NO_HOME.what ? `${what} (${fix})` : what;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? ''; // or whatever was thrown
}

function pathOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).path ?? ''; // file operations throw only such errors
}

/** Names the folder or file that denies the permission. */
function denial(path: string, use: FileUse): string {
  const closed = foldersOf(path).find((folder) => existsSync(folder) && !allows(folder, constants.X_OK));
  if (closed !== undefined) return `this user may not enter the folder ${closed}`;
  if (use === 'read') return 'this user may not read it';
  const isThere = existsSync(path);
  if (isThere && !allows(path, constants.W_OK)) return `this user may not write to ${path}`;
  return `this user may not write to the folder ${foldersOf(path).findLast((folder) => existsSync(folder))}`;
}

/** The folders above a path, the highest first. */
function foldersOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersOf(folder), folder];
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

const PROBE_BYTES = Buffer.alloc(4096);

/**
 * Writes to the folder of `path`, or to the nearest folder above that exists, and removes what it wrote. Returns the error
 * of the file system, or undefined if there is none. `access` is not enough: it knows neither quotas nor sandboxes, and
 * checks the user that started the process.
 */
export function probeFolder(path: string): unknown {
  const folders = foldersOf(resolve(path));
  const folder = folders.findLast((each) => existsSync(each)) ?? '/';
  const probe = resolve(folder, ownedName('.hooks-probe', 'tmp'));
  try {
    // In a folder that must be created, such as one in /proc, folders may be impossible where files are possible.
    if (folder === folders.at(-1)) writeProbe(probe);
    else mkdirSync(probe);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    if (folder === folders.at(-1)) rmSync(probe, { force: true });
    else if (existsSync(probe)) rmdirSync(probe);
  }
}

function writeProbe(path: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeSync(fd, PROBE_BYTES);
  } finally {
    closeSync(fd);
  }
}
