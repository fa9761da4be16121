import { statSync } from 'node:fs';
import { QueueError } from '../errors.ts';
import type { Database, Statement } from './sqlite.ts';
import type { Sql } from './store.ts';
import { isDoubtful } from './store-error.ts';

/** What survives: the end of the process, or a power cut too. */
export type Synchronous = 'NORMAL' | 'FULL';

/** An open database, what is prepared over it, and whether it can still be trusted. */
export class Connection {
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

  /** Else it is to be opened anew. */
  get isSound(): boolean {
    return this.#isSound;
  }

  begin(): void {
    this.#database.exec('BEGIN');
  }

  /** The write lock is taken at the start, so that a transaction never has to be given up in its midst. */
  beginWriting(synchronous: Synchronous): void {
    if (synchronous === 'FULL') this.#assertInPlace();
    if (synchronous !== this.#synchronous) this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    this.#database.exec('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#database.exec('COMMIT');
  }

  /** As far as others let it, and the disk: the log is written over from its beginning once all of it is in the file. */
  checkpoint(): void {
    try {
      this.sql('PRAGMA wal_checkpoint(PASSIVE)').get();
    } catch {
      // The file cannot grow; what comes next tells so.
    }
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

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  /** What is written to a file that was removed is lost. */
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
