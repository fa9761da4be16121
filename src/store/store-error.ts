import { HooksError, QueueError } from '../errors.ts';

/** Primary result codes of SQLite (sqlite.org/rescode.html): what is wrong, and the way out. */
const REASONS: Readonly<Record<number, readonly [what: string, hint: string]>> = {
  5: ['is locked by another program', 'end whatever holds it (a backup, an open sqlite3), then try again'],
  6: ['is locked by another program', 'end whatever holds it (a backup, an open sqlite3), then try again'],
  8: [
    'cannot be written: it or its disk is read-only',
    'make it writable, or name another file with --store',
  ],
  10: ['cannot be read or written: the disk reports an error', 'check the disk, its quota and its mount'],
  11: [
    'is damaged',
    'move it and its -wal file aside and start anew; `sqlite3 FILE .recover` gets out what can be had',
  ],
  13: ['cannot be written: the disk is full', 'make room; what waits in the queue is kept'],
  14: [
    'cannot be opened',
    'check that its folder is there and may be written, or name another file with --store',
  ],
  26: ['is not a SQLite database', 'name another file with --store'],
};

export const BUSY = 5;

/** SQLite's primary result code; undefined for an error that is not SQLite's. */
export function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** What SQLite or the file system said, as an error a person can act upon. An error of ours stays as it is. */
export function storeError(cause: unknown, file: string): HooksError {
  if (cause instanceof HooksError) return cause;
  const code = resultCode(cause);
  const [what, hint] = REASONS[code ?? 0] ?? fileReason(cause);
  return new QueueError(`The queue ${file} ${what}`, { file, hint, cause });
}

function fileReason(cause: unknown): readonly [string, string] {
  const { code, message } = cause as NodeJS.ErrnoException; // whatever fails in this folder is an Error
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return ['cannot be opened: not allowed', 'check who owns it, or name another file with --store'];
    case 'EROFS':
      return ['cannot be written: its file system is read-only', 'name another file with --store'];
    case 'ENOSPC':
      return ['cannot be written: the disk is full', 'make room; what waits in the queue is kept'];
    case 'ENOTDIR':
    case 'EEXIST':
      return ['cannot be made: a part of its path is not a folder', 'name another file with --store'];
    default:
      return [`failed: ${message}`, 'try again; -v shows where it failed'];
  }
}
