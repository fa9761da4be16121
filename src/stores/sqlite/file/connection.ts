import { statSync } from 'node:fs';
import { QueueError } from '../../../errors.ts';
import { SCHEMA_VERSION } from './schema.ts';
import type { Database, Statement } from './sqlite.ts';
import type { Sql } from './store.ts';
import { isDoubtful } from './store-error.ts';

/** The failure that a commit survives: the end of the process, or a power cut too. */
export type Synchronous = 'NORMAL' | 'FULL';

/** An open database, what is prepared over it, and whether it can still be trusted. */
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

  /** False: the file must be opened again. */
  get isSound(): boolean {
    return this.#isSound;
  }

  begin(): void {
    this.#database.exec('BEGIN');
  }

  /** The write lock is taken at the start, so that a transaction never fails halfway. */
  beginWriting(synchronous: Synchronous): void {
    if (synchronous === 'FULL') this.#assertInPlace();
    if (synchronous !== this.#synchronous) this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    this.#database.exec('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#database.exec('COMMIT');
  }

  /** Some errors have ended the transaction already; that there is none is fine. */
  rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // See above.
    }
  }

  /** Tells it of an error that something over it has thrown. */
  doubt(error: unknown): void {
    if (isDoubtful(error)) this.#isSound = false;
  }

  /**
   * Writes the log back into the file and begins it again, as far as others let it. What is in the log can be lost by one
   * flipped bit: when the file is next opened by a process that is alone with it, nothing behind that is taken. Frames
   * that are in the file already would be worse, for those before the bit would bring older pages back: a commit puts a
   * new beginning over them. The log keeps its room, which a full disk would not give again.
   */
  checkpoint(): void {
    try {
      const { busy } = this.sql('PRAGMA wal_checkpoint(RESTART)').get() ?? {};
      if (busy === 0) this.#database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    } catch (error) {
      this.doubt(error);
    }
  }

  /** Writes all of the log into the file at the end, which then is all that there is. */
  emptyLog(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The next process that opens it has both.
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  /** Throws QueueError for a file that was removed or replaced: writes to it would be lost. */
  #assertInPlace(): void {
    if (this.#fileId !== undefined && fileId(this.#file) === this.#fileId) return;
    this.#isSound = false;
    throw new QueueError(`The queue ${this.#file} was removed or replaced while it was in use`, {
      file: this.#file,
      hint: 'whatever is there now is used from here on, else a new file; what waited is in the old file only',
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
