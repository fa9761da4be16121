import type { DiskRoom } from './disk-room.ts';
import type { Statement } from './sqlite.ts';

/**
 * The database file of a data folder. Other folders define and use its tables. All methods reject with QueueError if the
 * file fails.
 */
export interface Store {
  /** The path of the file. */
  readonly file: string;
  readonly found: StoreFound;
  /**
   * Runs `work` in a transaction that it shares with the other writes of this turn of the event loop, and resolves to its
   * result after the commit. If one of them throws or the commit fails, all are rolled back and rejected, except those that
   * are `separable`. `work` must be synchronous, and may run again after a rollback.
   */
  write<T>(work: (sql: Sql) => T, options?: WriteOptions): Promise<T>;
  /** Runs `work` on one snapshot of the file. */
  read<T>(work: (sql: Sql) => T): Promise<T>;
  /** Rejects if a write that adds would be rejected now. Writes a row on the first call, and if no write has succeeded lately. */
  check(options?: { readonly toAdd?: boolean }): Promise<void>;
  /** The room on the disk of the file. */
  readonly room: Pick<DiskRoom, 'isScarce' | 'keepReserve'>;
  /** Commits pending writes, then closes the file. */
  close(): Promise<void>;
}

/** Problems of the file that were found when it was opened. */
export interface StoreFound {
  /** Commits that were lost because the log was damaged (cut-commits.ts). */
  readonly cutCommits: number;
  /** Pages that were lost because the log was deleted or cut off. */
  readonly lostPages: number;
  /** Whether the file had 0 bytes and was initialized. */
  readonly wasEmpty: boolean;
}

export interface WriteOptions {
  /** The failure that the write survives: the end of this process, or a power cut, which requires an fsync. @default 'power cut' */
  readonly survives?: 'exit' | 'power cut';
  /**
   * Whether the write is independent: if it needs an unreadable page, it is rejected alone, and if others do, it is
   * committed without them. @default false
   */
  readonly separable?: boolean;
  /**
   * Whether the write needs more room than it frees. It is then rejected when the disk is nearly full, so that other writes
   * succeed. @default false
   */
  readonly adds?: boolean;
}

/**
 * Returns the prepared statement of an SQL text. After the file was opened again, this is another function, because the file
 * may be another.
 */
export type Sql = (text: string) => Statement;
