import { sleep, type Clock } from '../../../clock.ts';
import { ClosedError, type HooksError } from '../../../errors.ts';
import { CommitTimer } from './commit-timer.ts';
import type { SqliteConnection } from './connection.ts';
import type { DiskRoom } from './disk-room.ts';
import { SoundConnection } from './sound-connection.ts';
import type { Sql, Store, StoreFound, WriteOptions } from './store.ts';
import { isDiskFull, isOfWhatWasRead, lockRetryMs, storeError } from './store-error.ts';

/** Milliseconds after which a commit is copied from the write-ahead log to the file. */
const CHECKPOINT_AFTER_MS = 1_000;
/** Milliseconds after a successful write for which `check` assumes that another write would succeed. */
const WRITTEN_FOR_MS = 5_000;
/** Milliseconds for which `check` assumes that a disk that rejected a write is still full: a quota cannot be queried. */
const REJECTED_FOR_MS = 5_000;

interface Write extends Required<Omit<WriteOptions, 'mayWait'>> {
  readonly work: (sql: Sql) => unknown;
  readonly since: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface SqliteStoreOptions {
  readonly file: string;
  readonly room: DiskRoom;
  readonly clock: Clock;
  /** Whether to reject writes, because the connection may be to a copy of the file. @default false */
  readonly isReadOnly?: boolean;
  /** Facts about the file from opening it. @default no problems */
  readonly found?: StoreFound;
  /** Opens the file again. The function first syncs the whole content of the file to the disk. */
  readonly reopen: () => Promise<SqliteConnection>;
}

/** A store that groups writes: an fsync costs as much as dozens of rows, so all writes of one turn share a commit. */
export class SqliteStore implements Store {
  readonly file: string;
  readonly found: StoreFound;
  readonly room: DiskRoom;
  readonly #clock: Clock;
  readonly #isReadOnly: boolean;
  readonly #connection: SoundConnection;
  #waiting: Write[] = [];
  #isCommitting = false;
  readonly #timer = new CommitTimer(() => void this.#commitAll());
  #closed: Promise<void> | undefined;
  #onEmpty: (() => void) | undefined;
  #cancelCheckpoint: (() => void) | undefined;
  /** The write whose `work` runs in the transaction. Undefined during the commit itself. */
  #running: Write | undefined;
  writtenAt = -Infinity;
  #rejectedAt = -Infinity;
  #isChecked = false;

  constructor(connection: SqliteConnection, options: SqliteStoreOptions) {
    this.#connection = new SoundConnection(connection, options.reopen);
    this.file = options.file;
    this.room = options.room;
    this.found = options.found ?? { cutCommits: 0, lostPages: 0, wasEmpty: false, isNew: false };
    this.#clock = options.clock;
    this.#isReadOnly = options.isReadOnly ?? false;
  }

  write<T>(
    work: (sql: Sql) => T,
    { survives = 'power cut', separable = false, adds = false, mayWait = false }: WriteOptions = {},
  ): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(new ClosedError('The store is closed'));
    if (this.#isReadOnly) return Promise.reject(storeError({ code: 'EROFS' }, this.file));
    if (adds && this.#hasNoRoom()) return Promise.reject(this.#diskFullError());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        work,
        survives,
        separable,
        adds,
        since: this.#clock.now(),
        resolve: resolve as (result: unknown) => void, // it gets what `work` returned
        reject,
      });
      // A commit that runs, or waits for the lock of the file, continues with the writes that came meanwhile.
      if (!this.#isCommitting) this.#timer.schedule({ mayWait });
    });
  }

  /**
   * Whether the disk is too full for a write that adds. Asks the file system only for the first such write of a commit,
   * since asking takes longer than writing a row.
   */
  #hasNoRoom(): boolean {
    return !this.#waiting.some(({ adds }) => adds) && this.room.isShort();
  }

  #diskFullError(): HooksError {
    return storeError({ code: 'ENOSPC' }, this.file);
  }

  async read<T>(work: (sql: Sql) => T): Promise<T> {
    const since = this.#clock.now();
    for (;;) {
      if (this.#closed !== undefined) throw new ClosedError('The store is closed');
      try {
        const connection = this.#connection.sound ?? (await this.#connection.reopened());
        return connection.read(work);
      } catch (error) {
        const waitMs = lockRetryMs(error, this.#clock.now() - since);
        if (waitMs === undefined) throw storeError(error, this.file);
        await sleep(this.#clock, waitMs);
      }
    }
  }

  get version(): number | undefined {
    return this.#waiting.length > 0 || this.#closed ? undefined : this.#connection.sound?.version;
  }

  async check({ toAdd = true }: { readonly toAdd?: boolean } = {}): Promise<void> {
    const now = this.#clock.now();
    if (toAdd && (this.room.isShort() || now - this.#rejectedAt < REJECTED_FOR_MS)) {
      throw this.#diskFullError();
    }
    if (this.#isChecked && now - this.writtenAt < WRITTEN_FOR_MS) return;
    await this.write((sql) => void sql(NOTE_CHECK).run(Math.floor(now)));
    this.#isChecked = true;
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeWhenEmpty();
    return this.#closed;
  }

  async #closeWhenEmpty(): Promise<void> {
    if (this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    this.#cancelCheckpoint?.();
    await this.#connection.close();
  }

  /** Commits all waiting writes. Never rejects, and waits only to open the file again. */
  async #commitAll(): Promise<void> {
    this.#isCommitting = true;
    const group = this.#waiting;
    try {
      const connection = this.#connection.sound ?? (await this.#connection.reopened());
      this.#begin(group, connection);
      this.#end(this.#commit(group, connection));
    } catch (error) {
      const waitMs = lockRetryMs(error, this.#clock.now() - (group[0]?.since ?? 0));
      if (waitMs === undefined) this.#end(this.#rejected(group, error));
      else this.#clock.after(waitMs, () => void this.#commitAll());
    }
  }

  #begin(group: readonly Write[], connection: SqliteConnection): void {
    try {
      const isDurable = group.some(({ survives }) => survives === 'power cut');
      connection.beginWriting(isDurable ? 'FULL' : 'NORMAL');
    } catch (error) {
      connection.doubt(error);
      throw error;
    }
  }

  /** Commits writes. Returns the callbacks of those that have ended: all, or the ones that an unreadable page made fail. */
  #commit(group: readonly Write[], connection: SqliteConnection): Ends {
    try {
      return this.#run(group, connection);
    } catch (error) {
      connection.rollBack();
      connection.doubt(error);
      if (isDiskFull(error)) return this.#commitWithoutMore(group, connection, error);
      return this.#rejected(isOfWhatWasRead(error) ? failedWith(this.#running, group) : group, error);
    }
  }

  #run(group: readonly Write[], connection: SqliteConnection): Ends {
    const results = group.map((write) => (this.#running = write).work(connection.sql));
    this.#running = undefined;
    connection.commit();
    this.writtenAt = this.#clock.now();
    if (group.some(({ adds }) => adds)) this.#rejectedAt = -Infinity;
    // On a nearly full disk, the log must not grow: after a checkpoint, the next commit overwrites its beginning.
    if (this.room.wasShort && this.room.isShort()) connection.checkpoint();
    else this.#checkpointSoon();
    return new Map(group.map((write, index) => [write, () => write.resolve(results[index])]));
  }

  /** Commits on a full disk: rejects writes that add, so that others get all the room. Settling deliveries frees room. */
  #commitWithoutMore(group: readonly Write[], connection: SqliteConnection, cause: unknown): Ends {
    const rest = group.filter(({ adds }) => !adds);
    if (rest.length < group.length) this.#rejectedAt = this.#clock.now();
    const rejected = this.#rejected(group, cause);
    if (rest.length === 0 || !connection.isSound) return rejected;
    this.room.giveUpReserve();
    connection.checkpoint();
    try {
      this.#begin(rest, connection);
      return new Map([...rejected, ...this.#run(rest, connection)]);
    } catch (error) {
      connection.rollBack();
      connection.doubt(error);
      return rejected;
    }
  }

  #checkpointSoon(): void {
    this.#cancelCheckpoint ??= this.#clock.after(CHECKPOINT_AFTER_MS, () => {
      this.#cancelCheckpoint = undefined;
      this.#connection.sound?.checkpoint();
    });
  }

  #rejected(writes: readonly Write[], error: unknown): Ends {
    this.writtenAt = -Infinity;
    return new Map(writes.map((write) => [write, () => write.reject(storeError(error, this.file))]));
  }

  #end(ends: Ends): void {
    this.#waiting = this.#waiting.filter((write) => !ends.has(write));
    if (this.#waiting.length > 0) void this.#commitAll();
    else this.#isCommitting = false;
    for (const tell of ends.values()) tell();
    if (this.#waiting.length === 0) this.#onEmpty?.();
  }
}

/** The callback of each write that has ended, which resolves or rejects its promise. */
type Ends = ReadonlyMap<Write, () => void>;

/**
 * Returns the writes that fail with `failed`: only `failed` if it is separable, or else all writes that are not separable.
 * Returns the whole group if the commit itself failed.
 */
function failedWith(failed: Write | undefined, group: readonly Write[]): readonly Write[] {
  if (failed === undefined) return group;
  return failed.separable ? [failed] : group.filter(({ separable }) => !separable);
}

/** The write with which `check` tests the file. It always changes the same row. */
const NOTE_CHECK =
  'INSERT INTO store_checks VALUES (1, ?) ON CONFLICT DO UPDATE SET checked_at = excluded.checked_at';
