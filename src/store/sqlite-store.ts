import { sleep, type Clock } from '../clock.ts';
import { ClosedError } from '../errors.ts';
import type { Connection } from './connection.ts';
import type { DiskRoom } from './disk-room.ts';
import type { CheckOptions, Sql, Store, WriteOptions } from './store.ts';
import { fullError, isBusy, isFull, storeError } from './store-error.ts';

/** How long another program may hold the file before it is given up. */
const LOCK_WAIT_MS = 10_000;
/** Between the tries: a part of what was waited already, since most locks last a moment. */
const LOCK_RETRY = { part: 1 / 4, shortestMs: 2, longestMs: 100 };

interface Write {
  readonly work: (sql: Sql) => unknown;
  readonly isDurable: boolean;
  readonly adds: boolean;
  readonly since: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** So long after a write it is taken for granted that another would succeed. */
const WRITTEN_FOR_MS = 5_000;
/** So long after something was refused for lack of room it is not: the room may be a quota, of which nothing can be asked. */
const REFUSED_FOR_MS = 5_000;

interface SqliteStoreOptions {
  readonly file: string;
  readonly room: DiskRoom;
  readonly clock: Clock;
  /** Opens the file once more; everything that it finds is on the disk then. */
  readonly reopen: () => Promise<Connection>;
}

/** Group commit over one connection: an fsync costs as much as dozens of rows, so those that come together share it. */
export class SqliteStore implements Store {
  readonly file: string;
  readonly room: DiskRoom;
  readonly #clock: Clock;
  readonly #reopen: () => Promise<Connection>;
  #connection: Connection;
  #opening: Promise<Connection> | undefined;
  #waiting: Write[] = [];
  #isScheduled = false;
  #closed: Promise<void> | undefined;
  #onEmpty: (() => void) | undefined;
  /** When a write last succeeded; -Infinity after one that failed. */
  #writtenAt = -Infinity;
  #refusedAt = -Infinity;
  #isChecked = false;

  constructor(connection: Connection, { file, room, clock, reopen }: SqliteStoreOptions) {
    this.#connection = connection;
    this.file = file;
    this.room = room;
    this.#clock = clock;
    this.#reopen = reopen;
  }

  write<T>(work: (sql: Sql) => T, { survives = 'power cut', adds = false }: WriteOptions = {}): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closed());
    if (adds && this.room.isShort()) return Promise.reject(storeError(fullError(), this.file));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        work,
        isDurable: survives === 'power cut',
        adds,
        since: this.#clock.now(),
        resolve: resolve as (result: unknown) => void, // it gets what `work` returned
        reject,
      });
      if (!this.#isScheduled) this.#schedule();
    });
  }

  async read<T>(work: (sql: Sql) => T): Promise<T> {
    const since = this.#clock.now();
    for (;;) {
      if (this.#closed !== undefined) throw closed();
      try {
        return this.#readOnce(work, this.#sound ?? (await this.#open()));
      } catch (error) {
        const waitMs = this.#waitFor(error, since);
        if (waitMs === undefined) throw storeError(error, this.file);
        await sleep(this.#clock, waitMs);
      }
    }
  }

  async check({ toAdd = true }: CheckOptions = {}): Promise<void> {
    const now = this.#clock.now();
    if (toAdd && (this.room.isShort() || now - this.#refusedAt < REFUSED_FOR_MS))
      throw storeError(fullError(), this.file);
    if (this.#isChecked && now - this.#writtenAt < WRITTEN_FOR_MS) return;
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
    await this.#opening?.catch(() => {}); // told to those who asked for it
    this.#connection.close();
  }

  /** The connection, unless it has to be opened anew first. */
  get #sound(): Connection | undefined {
    return this.#connection.isSound ? this.#connection : undefined;
  }

  #open(): Promise<Connection> {
    this.#opening ??= this.#openAnew().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** The old one is closed last: if nobody had the file open, what was refused and is still in the log would be taken for good. */
  async #openAnew(): Promise<Connection> {
    const doubtful = this.#connection;
    this.#connection = await this.#reopen();
    doubtful.close();
    return this.#connection;
  }

  #readOnce<T>(work: (sql: Sql) => T, connection: Connection): T {
    try {
      connection.begin();
      return work(connection.sql);
    } catch (error) {
      connection.doubt(error);
      throw error;
    } finally {
      connection.rollBack();
    }
  }

  /** After what the turn of the event loop has at hand, so that all of it is in. */
  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => void this.#commitAll());
  }

  /** Never rejects. Without waiting, unless the file has to be opened anew. */
  async #commitAll(): Promise<void> {
    const group = this.#waiting;
    try {
      const connection = this.#sound ?? (await this.#open());
      this.#begin(group, connection);
      this.#end(this.#commit(group, connection));
    } catch (error) {
      const waitMs = this.#waitFor(error, group[0]?.since ?? 0);
      if (waitMs === undefined) this.#end(this.#refusal(error));
      else this.#clock.after(waitMs, () => void this.#commitAll());
    }
  }

  #begin(group: readonly Write[], connection: Connection): void {
    try {
      connection.beginWriting(group.some(({ isDurable }) => isDurable) ? 'FULL' : 'NORMAL');
    } catch (error) {
      connection.doubt(error);
      throw error;
    }
  }

  /** How long until the next try; undefined: it is no lock that fails, or one that has lasted too long. */
  #waitFor(error: unknown, since: number): number | undefined {
    const waitedMs = this.#clock.now() - since;
    if (!isBusy(error) || waitedMs >= LOCK_WAIT_MS) return undefined;
    const { part, shortestMs, longestMs } = LOCK_RETRY;
    return Math.min(Math.max(waitedMs * part, shortestMs), longestMs);
  }

  /** Returns how each of the group is told. */
  #commit(group: readonly Write[], connection: Connection): (write: Write) => void {
    try {
      return this.#run(group, connection);
    } catch (error) {
      connection.rollBack();
      connection.doubt(error);
      if (isFull(error)) return this.#commitWithoutMore(group, connection, error);
      return this.#refusal(error);
    }
  }

  #run(group: readonly Write[], connection: Connection): (write: Write) => void {
    const results = new Map(group.map((write) => [write, write.work(connection.sql)]));
    connection.commit();
    this.#writtenAt = this.#clock.now();
    // While there is little room the log must not take it: it is written over from its beginning with the next commit.
    if (this.room.wasShort && this.room.isShort()) connection.checkpoint();
    if (group.some(({ adds }) => adds)) this.#refusedAt = -Infinity;
    return (write) => write.resolve(results.get(write));
  }

  /** What adds is refused; the rest has all the room there is, by which there may be more: it settles what is there. */
  #commitWithoutMore(
    group: readonly Write[],
    connection: Connection,
    cause: unknown,
  ): (write: Write) => void {
    const rest = group.filter(({ adds }) => !adds);
    if (rest.length < group.length) this.#refusedAt = this.#clock.now();
    const refuse = this.#refusal(cause);
    if (rest.length === 0 || !connection.isSound) return refuse;
    this.room.giveUpReserve();
    connection.checkpoint();
    try {
      this.#begin(rest, connection);
      const tell = this.#run(rest, connection);
      return (write) => (write.adds ? refuse : tell)(write);
    } catch (error) {
      connection.rollBack();
      connection.doubt(error);
      return refuse;
    }
  }

  #refusal(cause: unknown): (write: Write) => void {
    this.#writtenAt = -Infinity;
    return ({ reject }) => reject(storeError(cause, this.file));
  }

  #end(tell: (write: Write) => void): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#isScheduled = false;
    for (const write of group) tell(write);
    this.#onEmpty?.();
  }
}

/** It leaves one row. */
const NOTE_CHECK =
  'INSERT INTO store_checks VALUES (1, ?) ON CONFLICT DO UPDATE SET checked_at = excluded.checked_at';

function closed(): ClosedError {
  return new ClosedError('The store is closed');
}
