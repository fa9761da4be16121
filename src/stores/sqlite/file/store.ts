import type { DiskRoom } from './disk-room.ts';
import type { Statement } from './sqlite.ts';

/** The one file of a data folder. Tables belong to the folders that use them. Everything rejects with QueueError when the file fails. */
export interface Store {
  /** Its path. */
  readonly file: string;
  readonly found: StoreFound;
  /**
   * Runs `work` in a transaction that it shares with the other writes of this turn of the event loop, and resolves with
   * what it returned once that is committed. When any of them throws or the commit fails, nothing of it is kept and all
   * reject, but for those that are `separable`. `work` must not wait, and may run again after it was rolled back.
   */
  write<T>(work: (sql: Sql) => T, options?: WriteOptions): Promise<T>;
  /** Runs `work` over one state of the file. */
  read<T>(work: (sql: Sql) => T): Promise<T>;
  /** Rejects when a write that adds would be rejected now. Writes the first time, and where no write has succeeded lately. */
  check(options?: { readonly toAdd?: boolean }): Promise<void>;
  /** What is known of the room on its disk. */
  readonly room: Pick<DiskRoom, 'isScarce' | 'keepReserve'>;
  /** Commits what is promised, then closes the file. */
  close(): Promise<void>;
}

/** What was wrong with the file when it was opened. */
export interface StoreFound {
  /** Commits that were lost, since its log was damaged (cut-commits.ts). */
  readonly cutCommits: number;
  /** Pages that were lost, since its log was deleted. */
  readonly lostPages: number;
  /** It had 0 bytes, and was initialized. */
  readonly wasEmpty: boolean;
}

export interface WriteOptions {
  /** The failure that the write survives: the end of this process, or a power cut too, which has to wait for the disk. @default 'power cut' */
  readonly survives?: 'exit' | 'power cut';
  /**
   * Whether it stands by itself: when a page that it needs cannot be read, it rejects alone, and when that happens to
   * others, it is committed without them. @default false
   */
  readonly separable?: boolean;
  /** Whether the write needs more room than it frees: then it is rejected while the disk is nearly full, so that the rest can go on. @default false */
  readonly adds?: boolean;
}

/** The statement of an SQL text, prepared once. Another function after the file was opened again: it may be another file then. */
export type Sql = (text: string) => Statement;
