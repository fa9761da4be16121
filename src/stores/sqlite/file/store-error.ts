import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { HooksError, QueueError } from '../../../errors.ts';

const BUSY = 5;
/** SQLite's code when a full disk has no room for the `-shm` file. */
const FULL_INDEX = 10 | (19 << 8);

/** Result codes of SQLite, primary and extended (sqlite.org/rescode.html): what is wrong, and the hint. */
const REASONS: Readonly<Record<number, readonly [what: string, hint: string]>> = {
  5: ['is locked by another program', 'end whatever holds it (a backup, an open sqlite3), then try again'],
  6: ['is locked by another program', 'end whatever holds it (a backup, an open sqlite3), then try again'],
  8: [
    'cannot be written: it or its disk is read-only',
    'make it writable, or name another file with --store',
  ],
  10: ['cannot be read or written: the disk reports an error', 'check the disk, its quota and its mount'],
  11: ['is damaged', 'stop what uses it, run `hooks queue recover FILE --to NEW`, and put NEW in its place'],
  13: ['cannot be written: the disk is full', 'make room; what waits in the queue is kept'],
  [FULL_INDEX]: ['cannot be written: the disk is full', 'make room; what waits in the queue is kept'],
  14: [
    'cannot be opened',
    'check that its folder is there and may be written, or name another file with --store',
  ],
  26: ['is not a SQLite database', 'name another file with --store'],
};

/** SQLite's sentence for a result code, for errors that come with the sentence only (the package's `all()`). */
const SENTENCES: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
};

interface SqliteError {
  /** The code of Node's own module, always the extended one. */
  readonly errcode?: number;
  /** The code of the package. */
  readonly sqliteExtendedCode?: number;
  readonly message?: string;
}

/** SQLite's result code, extended where it is known; undefined for an error that is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  const { errcode, sqliteExtendedCode, message = '' } = (error ?? {}) as SqliteError; // or whatever was thrown
  return sqliteExtendedCode ?? errcode ?? SENTENCES[message];
}

/** The result code of SQLite without its extension. */
function primaryCode(error: unknown): number {
  return (resultCode(error) ?? 0) & 0xff;
}

/** Whether another program holds the file. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** How long another program may hold the file before it is given up. */
const LOCK_WAIT_MS = 10_000;
/** The wait between the tries: a part of what was waited already, since most locks last a moment. */
const LOCK_RETRY = { part: 1 / 4, shortestMs: 2, longestMs: 100 };

/** How long to wait before the next try; undefined when no lock failed it, or one that has lasted too long. */
export function lockRetryMs(error: unknown, waitedMs: number): number | undefined {
  if (!isBusy(error) || waitedMs >= LOCK_WAIT_MS) return undefined;
  const { part, shortestMs, longestMs } = LOCK_RETRY;
  return Math.min(Math.max(waitedMs * part, shortestMs), longestMs);
}

/** SQLite's error for a busy file, where SQLite reports it by a result instead. */
export function busyError(): Error {
  return Object.assign(new Error('database is locked'), { errcode: BUSY });
}

/** SQLite's error for a damaged file, where this program finds the damage. */
export function damagedError(): Error {
  return Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
}

/** Whether a row violates a constraint of its table. */
export function isConstraint(error: unknown): boolean {
  return primaryCode(error) === 19;
}

const FULL = 13;

/** The disk is full, as far as SQLite can tell, or a quota is. */
export function isDiskFull(error: unknown): boolean {
  const code = resultCode(error) ?? 0;
  return (
    primaryCode(error) === FULL ||
    code === FULL_INDEX ||
    (error as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC' // an error of a file operation
  );
}

/** SQLite's own error, for a write that is rejected before the disk is full. */
export function diskFullError(): Error {
  return Object.assign(new Error('database or disk is full'), { errcode: FULL });
}

/** Result codes after which a connection cannot be trusted; 1 comes from statements over another schema. */
const DOUBTFUL: readonly number[] = [1, 8, 10, 11, 14, 26];

/**
 * Whether what SQLite has said is more than a lock, a full disk or a violated constraint: an fsync that failed says
 * nothing of what was written before it, a disk that was read-only and a file that was damaged may have been replaced.
 */
export function isDoubtful(error: unknown): boolean {
  return DOUBTFUL.includes(primaryCode(error));
}

/** Whether what `work` has thrown may be due to the pages or rows that it looked at, so that other work can still be done. */
export function isOfWhatWasRead(error: unknown): boolean {
  return [0, 10, 11].includes(primaryCode(error));
}

/** Turns an error of SQLite or the file system into one that a person can act upon. A HooksError stays as it is. */
export function storeError(cause: unknown, file: string): HooksError {
  if (cause instanceof HooksError) return cause;
  const reason = REASONS[resultCode(cause) ?? 0] ?? REASONS[primaryCode(cause)];
  const [what, hint] =
    (primaryCode(cause) === CANNOT_OPEN && folderReason(file)) || (reason ?? fileReason(cause));
  return new QueueError(`The queue ${file} ${what}`, { file, hint, cause });
}

const CANNOT_OPEN = 14;

/** Why SQLite cannot open a file, which it does not say: its folder may not be written. */
function folderReason(file: string): readonly [string, string] | undefined {
  try {
    accessSync(dirname(file), constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : fileReason(error); // of a file operation
  }
}

function fileReason(cause: unknown): readonly [string, string] {
  const { code, message } = cause as NodeJS.ErrnoException; // whatever fails in this folder is an Error
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return ['cannot be opened: not allowed', 'check who owns it, or name another file with --store'];
    case 'EROFS':
      return [
        'cannot be written: its file system is read-only',
        'mount its disk writable, or copy it with its -wal and -shm to another disk and name the copy',
      ];
    case 'ENOSPC':
      return ['cannot be written: the disk is full', 'make room; what waits in the queue is kept'];
    case 'ENOENT':
      return [
        'cannot be made: no folder can be made there',
        'name another file with --store, or another folder in HOOKS_DATA_DIR',
      ];
    case 'ENOTDIR':
    case 'EEXIST':
      return ['cannot be made: a part of its path is not a folder', 'name another file with --store'];
    case 'EIO':
      return [
        'cannot be read or written: the disk reports an error',
        'check the disk, its quota and its mount',
      ];
    default:
      return [`failed: ${message}`, 'try again; -v shows where it failed'];
  }
}
