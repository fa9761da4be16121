import { QueueError } from '../../errors.ts';
import { loadSqlite, type Database, type Row, type SqlValue } from './file/sqlite.ts';
import type { Sql, Store } from './file/store.ts';
import { storeError } from './file/store-error.ts';

const LOCK_WAIT_MS = 5_000;
/** Rows that are written in one transaction. */
const COPIED_AT_ONCE = 500;

/** A file that may be damaged anywhere, as far as it can be read. Nothing is written to it. */
export class DamagedFile {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Throws QueueError for a file that is no database, or whose list of tables cannot be read. */
  static async open(file: string): Promise<DamagedFile> {
    const { DatabaseSync } = await loadSqlite();
    try {
      const damaged = new DamagedFile(new DatabaseSync(file, { timeout: LOCK_WAIT_MS, readOnly: true }));
      if (damaged.columns('deliveries').length > 0) return damaged;
      damaged.close();
    } catch (cause) {
      throw storeError(cause, file);
    }
    throw new QueueError(`The file ${file} holds no queue`, { file, hint: 'name the file of a queue' });
  }

  /** None: there is no such table. */
  columns(table: string): readonly string[] {
    return [...this.#database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()].map(
      ({ name }) => String(name),
    );
  }

  /** The rows before the first that cannot be read. */
  *rows(sql: string): Generator<Row> {
    try {
      yield* this.#database.prepare(sql).iterate();
    } catch {
      // The rows behind it may be readable in another order.
    }
  }

  /** Undefined: it is not there. Throws what SQLite throws for what cannot be read. */
  row(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#database.prepare(sql).get(...values);
  }

  /** Copies what can be read of a table to the one of the same name. Returns whether that was all of it. */
  async copy(table: string, to: Store): Promise<boolean> {
    const columns = this.columns(table);
    if (columns.length === 0) return true;
    let rows: Row[] = [];
    const write = async (): Promise<void> => {
      const written = rows;
      rows = [];
      await to.write((sql) => insertAll(sql, table, written));
    };
    try {
      for (const row of this.#database.prepare(`SELECT ${columns.join(', ')} FROM ${table}`).iterate()) {
        if (rows.push(row) === COPIED_AT_ONCE) await write();
      }
      return true;
    } catch (error) {
      if (error instanceof QueueError) throw error;
      return false;
    } finally {
      await write();
    }
  }

  close(): void {
    this.#database.close();
  }
}

function insertAll(sql: Sql, table: string, rows: readonly Row[]): void {
  for (const row of rows) {
    const columns = Object.keys(row);
    const marks = columns.map(() => '?').join(', ');
    sql(`INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${marks})`).run(
      ...Object.values(row),
    );
  }
}
