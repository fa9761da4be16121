import type { Clock } from '../clock.ts';
import { ClosedError } from '../errors.ts';
import type { Database, Statement } from './sqlite.ts';
import type { Sql, Store, WriteOptions } from './store.ts';
import { BUSY, resultCode, storeError } from './store-error.ts';

/** How long another program may hold the file before writes give up. */
const LOCK_WAIT_MS = 10_000;
/** Between the tries: a part of what was waited already, since most locks last a moment. */
const LOCK_RETRY = { part: 1 / 4, shortestMs: 2, longestMs: 100 };

interface Write {
  readonly work: (sql: Sql) => unknown;
  readonly isDurable: boolean;
  readonly since: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Group commit over one connection: an fsync costs as much as dozens of rows, so those that come together share it. */
export class SqliteStore implements Store {
  readonly file: string;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #statements = new Map<string, Statement>();
  readonly #sql: Sql = (text) => this.#prepared(text);
  #waiting: Write[] = [];
  #isScheduled = false;
  #synchronous: 'FULL' | 'NORMAL' = 'FULL';
  #closed: Promise<void> | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(database: Database, { file, clock }: { readonly file: string; readonly clock: Clock }) {
    this.#database = database;
    this.file = file;
    this.#clock = clock;
  }

  write<T>(work: (sql: Sql) => T, { survives = 'power cut' }: WriteOptions = {}): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closed());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        work,
        isDurable: survives === 'power cut',
        since: this.#clock.now(),
        resolve: resolve as (result: unknown) => void, // it gets what `work` returned
        reject,
      });
      if (!this.#isScheduled) this.#schedule();
    });
  }

  async read<T>(work: (sql: Sql) => T): Promise<T> {
    if (this.#closed !== undefined) throw closed();
    try {
      this.#database.exec('BEGIN');
      return work(this.#sql);
    } catch (error) {
      throw storeError(error, this.file);
    } finally {
      this.#rollBack();
    }
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
    this.#statements.clear();
    this.#database.close();
  }

  /** After what the turn of the event loop has at hand, so that all of it is in. */
  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => this.#commitAll());
  }

  #commitAll(): void {
    const group = this.#waiting;
    try {
      this.#begin(group);
    } catch (error) {
      const waitMs = this.#waitFor(error, group);
      if (waitMs !== undefined) {
        this.#clock.after(waitMs, () => this.#commitAll());
        return;
      }
      this.#end((write) => write.reject(storeError(error, this.file)));
      return;
    }
    this.#end(this.#commit(group));
  }

  /** The write lock is taken at the start, so that a transaction never has to be given up in its midst. */
  #begin(group: readonly Write[]): void {
    const synchronous = group.some(({ isDurable }) => isDurable) ? 'FULL' : 'NORMAL';
    if (synchronous !== this.#synchronous) this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    this.#database.exec('BEGIN IMMEDIATE');
  }

  /** How long until the next try; undefined: it is no lock that fails, or one that has lasted too long. */
  #waitFor(error: unknown, [oldest]: readonly Write[]): number | undefined {
    const waitedMs = this.#clock.now() - (oldest?.since ?? 0);
    if (resultCode(error) !== BUSY || waitedMs >= LOCK_WAIT_MS) return undefined;
    const { part, shortestMs, longestMs } = LOCK_RETRY;
    return Math.min(Math.max(waitedMs * part, shortestMs), longestMs);
  }

  /** Returns how each of the group is told. */
  #commit(group: readonly Write[]): (write: Write, index: number) => void {
    try {
      const results = group.map(({ work }) => work(this.#sql));
      this.#database.exec('COMMIT');
      return ({ resolve }, index) => resolve(results[index]);
    } catch (error) {
      this.#rollBack();
      return ({ reject }) => reject(storeError(error, this.file));
    }
  }

  #end(tell: (write: Write, index: number) => void): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#isScheduled = false;
    group.forEach(tell);
    this.#onEmpty?.();
  }

  /** Some errors have ended the transaction already; that there is none is fine. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // See above.
    }
  }

  #prepared(text: string): Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}

function closed(): ClosedError {
  return new ClosedError('The store is closed');
}
