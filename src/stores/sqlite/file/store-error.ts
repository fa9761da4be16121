import { closeSync, openSync } from 'node:fs';
import { HooksError, QueueError } from '../../../errors.ts';
import { fileProblem, isFileProblem, probeFolder, type UnusableReason } from '../../../file-problem.ts';

const BUSY = 5;
/** Codes of the file system after which a file can be read, but not written. */
const WRITING: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'];
/** SQLite's extended result code if a full disk has no room for the `-shm` file. */
const FULL_INDEX = 10 | (19 << 8);

/** The problem of a file, as the end of a sentence `The queue FILE …`, and the hint. */
type Reason = readonly [what: string, hint: string];

const LOCKED: Reason = [
  'is locked by another program',
  'end the program that locks it (a backup, an open sqlite3), then try again',
];
/** Problems by SQLite's result code, primary or extended (sqlite.org/rescode.html). */
const REASONS: Readonly<Record<number, Reason>> = {
  5: LOCKED,
  6: LOCKED,
  8: ['cannot be written: it is read-only', 'make it writable, or name another file with --store'],
  10: fileReason({ code: 'EIO' }, ''),
  11: ['is damaged', 'stop what uses it, run `hooks queue recover FILE --to NEW`, and put NEW in its place'],
  13: fileReason({ code: 'ENOSPC' }, ''),
  [FULL_INDEX]: fileReason({ code: 'ENOSPC' }, ''),
  14: ['cannot be opened', 'check its folder, or name another file with --store'],
  26: ['is not a SQLite database', 'name another file with --store'],
};

/** SQLite's result codes by its messages, for errors that have only a message (of `all()` in the replacement package). */
const SENTENCES = {
  'database is locked': BUSY,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
} as const;

interface SqliteError {
  /** The extended result code in errors of Node's own module. */
  readonly errcode?: number;
  /** The extended result code in errors of the replacement package. */
  readonly sqliteExtendedCode?: number;
  readonly message?: string;
}

/** Returns SQLite's result code, the extended one if known. Undefined for an error that is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  const { errcode, sqliteExtendedCode, message = '' } = (error ?? {}) as SqliteError; // or whatever was thrown
  const ofMessage: Readonly<Record<string, number>> = SENTENCES;
  return sqliteExtendedCode ?? errcode ?? ofMessage[message];
}

/** Returns SQLite's primary result code: the extended one without its upper bits. 0 for an error that is not SQLite's. */
function primaryCode(error: unknown): number {
  return (resultCode(error) ?? 0) & 0xff;
}

/** Whether the error means that another process or program locks the file. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** Milliseconds to wait for a lock of another process or program before failing. */
const LOCK_WAIT_MS = 10_000;
/** The wait before the next try: `part` of the time waited so far, within limits. Short at first, as most locks are. */
const LOCK_RETRY = { part: 1 / 4, shortestMs: 2, longestMs: 100 };

/** Returns the milliseconds to wait before the next try. Undefined if the error is no lock, or the lock lasts too long. */
export function lockRetryMs(error: unknown, waitedMs: number): number | undefined {
  if (!isBusy(error) || waitedMs >= LOCK_WAIT_MS) return undefined;
  const { part, shortestMs, longestMs } = LOCK_RETRY;
  return Math.min(Math.max(waitedMs * part, shortestMs), longestMs);
}

/**
 * Creates the error of SQLite with this message. Thrown for a lock that SQLite reports in a result, for damage that this
 * program finds.
 */
export function sqliteError(sentence: keyof typeof SENTENCES): Error {
  return new Error(sentence);
}

/** Whether the error means that a row violates a constraint of its table. */
export function isConstraint(error: unknown): boolean {
  return primaryCode(error) === 19;
}

const FULL = 13;

/** Whether the error means that the disk or a quota is full. */
export function isDiskFull(error: unknown): boolean {
  const code = resultCode(error) ?? 0;
  return (
    primaryCode(error) === FULL ||
    code === FULL_INDEX ||
    ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '') // an error of a file operation
  );
}

/** Primary result codes after which a connection cannot be trusted. 1: a statement does not match the schema of the file. */
const DOUBTFUL: readonly number[] = [1, 8, 10, 11, 14, 26];

/**
 * Whether the connection cannot be trusted after the error, unlike after a lock, a full disk or a violated constraint. After
 * a failed fsync, earlier writes are uncertain; a file that was read-only or damaged may have been replaced.
 */
export function isDoubtful(error: unknown): boolean {
  return DOUBTFUL.includes(primaryCode(error));
}

/** Whether the error may concern only pages or rows that one write needed, so that the other writes can still succeed. */
export function isOfWhatWasRead(error: unknown): boolean {
  return [0, 10, 11].includes(primaryCode(error));
}

/** Converts an error of SQLite or the file system to one that a person can act on. Returns a HooksError unchanged. */
export function storeError(cause: unknown, file: string): HooksError {
  if (cause instanceof HooksError) return cause;
  const found = UNEXPLAINED.includes(primaryCode(cause)) ? fileSystemError(file) : undefined;
  const reason = REASONS[resultCode(cause) ?? 0] ?? REASONS[primaryCode(cause)];
  const [what, hint] =
    (found !== undefined && fileReason(found, file)) || (reason ?? fileReason(cause, file));
  return new QueueError(`The queue ${file} ${what}`, { file, hint, cause });
}

/** SQLite's result codes that do not tell the cause: read-only, disk I/O error, full, cannot open. */
const UNEXPLAINED: readonly number[] = [8, 10, 13, 14];

/** Returns the error that the file system reports for a file that SQLite cannot use. Undefined if it reports none. */
function fileSystemError(file: string): unknown {
  try {
    closeSync(openSync(file, 'r+'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // of a file operation
    if (code !== 'ENOENT') return error;
  }
  return probeFolder(file);
}

function fileReason(cause: unknown, file: string): Reason {
  const { code = '', message } = cause as NodeJS.ErrnoException; // whatever fails in this folder is an Error
  if (!isFileProblem(cause)) return [`failed: ${message}`, 'try again; -v shows where it failed'];
  const { what, fix } = storeProblem(cause, file);
  const failed = code === 'EIO' ? 'read or written' : WRITING.includes(code) ? 'written' : 'opened';
  const kept = code === 'ENOSPC' || code === 'EDQUOT' ? '; the deliveries in the queue are kept' : '';
  return [
    `cannot be ${failed}: ${what}`,
    `${fix}, or name another file with --store, or another folder in HOOKS_DATA_DIR${kept}`,
  ];
}

/** Returns why the file of a store cannot be used. `cause` is an error of `node:fs`. */
export function storeProblem(cause: unknown, file: string): UnusableReason {
  const { code } = cause as NodeJS.ErrnoException; // of a file operation
  // Missing parents are created, so only a file system such as /proc has no such folder.
  if (code === 'ENOENT') return { what: 'no folder can be made there', fix: 'check its path' };
  // The folder of the file was to be created where a file is.
  return fileProblem(code === 'EEXIST' ? { code: 'ENOTDIR' } : cause, file, 'write');
}
