import type { DiskRoom } from './disk-room.ts';
import type { Statement } from './sqlite.ts';

/**
 * The database file of a data folder. Code of other folders defines and uses its tables. All methods reject with QueueError
 * if the file fails.
 */
export interface Store {
  readonly file: string;
  readonly found: StoreFound;
  /**
   * Runs `work` in a transaction that it shares with the other writes of this turn of the event loop, and resolves to its
   * result after the commit. If one of these writes throws or the commit fails, all are rolled back and rejected, except
   * those that are `separable`. `work` must be synchronous, and may run again after a rollback.
   */
  write<T>(work: (sql: Sql) => T, options?: WriteOptions): Promise<T>;
  /** Runs `work`, which only reads, on one snapshot of the file. */
  read<T>(work: (sql: Sql) => T): Promise<T>;
  /**
   * Rejects if a write that adds would be rejected now; with `toAdd: false`, only if other writes would be rejected too.
   * Writes a row to test this, unless a write has succeeded lately.
   */
  check(options?: { readonly toAdd?: boolean }): Promise<void>;
  /**
   * A number that changes when another connection changes the file. Undefined while writes of this process wait, or the file
   * must be opened again. Reading the number needs no lock.
   */
  readonly version: number | undefined;
  /** Time of the last successful write of this process; -Infinity after a failed write. Milliseconds since the epoch. */
  readonly writtenAt: number;
  /** The free room on the disk of the file. */
  readonly room: Pick<DiskRoom, 'isScarce' | 'keepReserve'>;
  /** Commits pending writes, then closes the file. */
  close(): Promise<void>;
}

/** Facts about the file from opening it. */
export interface StoreFound {
  /** Number of commits that were lost because the log was damaged (cut-commits.ts). */
  readonly cutCommits: number;
  /** Number of pages that were lost because the log was deleted or cut off. */
  readonly lostPages: number;
  /** Whether the file had 0 bytes, so that a new queue was made in it. */
  readonly wasEmpty: boolean;
  /** Whether the file was missing, and was made. */
  readonly isNew: boolean;
}

export interface WriteOptions {
  /**
   * The event that the write survives: the end of this process, or even a power cut, which needs an fsync. @default 'power
   * cut'
   */
  readonly survives?: 'exit' | 'power cut';
  /**
   * Whether the write is independent of the other writes in its commit. If it needs an unreadable page, only this write is
   * rejected; if another write needs one, this write is still committed. @default false
   */
  readonly separable?: boolean;
  /**
   * Whether the write needs more room than it frees. Such a write is rejected when the disk is nearly full, so that other
   * writes still succeed. @default false
   */
  readonly adds?: boolean;
  /**
   * Whether the write may wait some milliseconds for another write, to share its commit: at low rates, a commit costs more
   * than its writes. @default false
   */
  readonly mayWait?: boolean;
}

/**
 * Returns the prepared statement of an SQL text. After the file was opened again, the function is another one: code that
 * keeps row ids compares it, because the file may be another.
 */
export type Sql = (text: string) => Statement;
