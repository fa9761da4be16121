import { statSync } from 'node:fs';
import { QueueError } from '../../../errors.ts';
import { SCHEMA_VERSION } from './schema.ts';
import type { Database, Statement } from './sqlite.ts';
import type { Sql } from './store.ts';
import { isDoubtful } from './store-error.ts';

/** The event that a commit survives: the end of the process (NORMAL), or also a power cut (FULL). */
export type Synchronous = 'NORMAL' | 'FULL';

/** An open database with its prepared statements, and whether it can still be trusted. */
export class SqliteConnection {
  readonly sql: Sql = (text) => this.#prepared(text);
  readonly #database: Database;
  readonly #file: string;
  readonly #fileId: string | undefined;
  readonly #statements = new Map<string, Statement>();
  #synchronous: Synchronous = 'FULL';
  #isSound = true;

  constructor(database: Database, file: string) {
    this.#database = database;
    this.#file = file;
    this.#fileId = fileId(file);
  }

  /** Whether the connection can still be trusted. If not, the file must be opened again. */
  get isSound(): boolean {
    return this.#isSound;
  }

  /** A number that changes when another connection changes the file. Undefined if it cannot be read now. */
  get version(): number | undefined {
    try {
      return Number(this.sql('PRAGMA data_version').get()?.['data_version']);
    } catch (error) {
      this.doubt(error);
      return undefined;
    }
  }

  /** Runs `work` on one snapshot of the file. */
  read<T>(work: (sql: Sql) => T): T {
    try {
      this.#database.exec('BEGIN');
      return work(this.sql);
    } catch (error) {
      this.doubt(error);
      throw error;
    } finally {
      this.rollBack();
    }
  }

  /** Begins a transaction with the write lock, so that it cannot fail halfway because another process holds the lock. */
  beginWriting(synchronous: Synchronous): void {
    if (synchronous === 'FULL') this.#assertInPlace();
    if (synchronous !== this.#synchronous) this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    this.#database.exec('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#database.exec('COMMIT');
  }

  rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // A failed rollback is ignored, because SQLite has already ended the transaction after some errors.
    }
  }

  /** Marks the connection as not sound, if the error is one after which it cannot be trusted. */
  doubt(error: unknown): void {
    if (isDoubtful(error)) this.#isSound = false;
  }

  /**
   * Writes the log back into the file and restarts the log, unless other processes use the log. A short log limits the harm
   * of a flipped bit: the next process that opens the file while no other process has it open ignores the log after that
   * bit. After the restart, a commit that changes nothing overwrites the beginning of the log, because old frames that stay
   * valid would restore older pages. The log keeps its size, which a full disk might not give again.
   */
  checkpoint(): void {
    try {
      const { busy } = this.sql('PRAGMA wal_checkpoint(RESTART)').get() ?? {};
      if (busy === 0) this.#database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    } catch (error) {
      this.doubt(error);
    }
  }

  /** Writes the whole log into the file, and truncates the log to 0 bytes. */
  emptyLog(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // A failed checkpoint is ignored, because the next process that opens the file also reads the log.
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  /** Throws QueueError if the file was removed or replaced since it was opened, because writes to it would be lost. */
  #assertInPlace(): void {
    if (this.#fileId !== undefined && fileId(this.#file) === this.#fileId) return;
    this.#isSound = false;
    throw new QueueError(`The queue ${this.#file} was removed or replaced while it was in use`, {
      file: this.#file,
      hint: 'the file that is there now, or a new one, is used from now on; earlier deliveries are only in the old file',
    });
  }

  #prepared(text: string): Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}

function fileId(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
