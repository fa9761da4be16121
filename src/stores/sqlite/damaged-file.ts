import { QueueError } from '../../errors.ts';
import { SqliteConnection } from './file/connection.ts';
import { assertNotEmpty } from './file/files.ts';
import { loadSqlite, type Row, type SqlValue } from './file/sqlite.ts';
import type { Sql, Store } from './file/store.ts';
import { isConstraint, storeError } from './file/store-error.ts';

const LOCK_WAIT_MS = 5_000;
/** Maximum number of rows to read at once, and to write in one transaction. */
const MOST_ROWS = 500;

/** The columns of a table's key, each with a value below every value of the column, from which a read of all rows starts. */
export type KeyStart = Readonly<Record<string, string | number>>;

type RowKey = readonly SqlValue[];

/** Reads as much as possible of a file that may be damaged anywhere. Does not write to the file. */
export class DamagedFile {
  readonly #connection: SqliteConnection;

  private constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Opens a file. Throws QueueError if it is no database, or if its list of tables is unreadable. */
  static async open(file: string): Promise<DamagedFile> {
    await assertNotEmpty(file);
    const { DatabaseSync } = await loadSqlite();
    try {
      const database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS, readOnly: true, defensive: false });
      // Without this setting, SQLite does not read a file that is shorter than its header says.
      database.exec('PRAGMA writable_schema = ON');
      const damaged = new DamagedFile(new SqliteConnection(database, file));
      if (damaged.row("SELECT 1 FROM pragma_table_info('deliveries')") !== undefined) return damaged;
      damaged.close();
    } catch (cause) {
      throw storeError(cause, file);
    }
    throw new QueueError(`The file ${file} holds no queue that can be read`, {
      file,
      hint: 'name the file of a queue',
    });
  }

  /** Returns the first row of a query. Undefined if there is none. Throws SQLite's error if the row is unreadable. */
  row(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#connection.sql(sql).get(...values);
  }

  /**
   * Reads a table in the order of a key, in groups of rows. Yields undefined in place of unreadable rows, and continues
   * behind them.
   */
  *read(table: string, start: KeyStart, columns = '*'): Generator<readonly Row[] | undefined> {
    const { sql } = this.#connection;
    const names = Object.keys(start).join(', ');
    const marks = names.replace(/\w+/g, '?');
    const select = `SELECT ${columns} FROM ${table} WHERE (${names}) > (${marks}) ORDER BY ${names} LIMIT ?`;
    const compare = `SELECT (${marks}) > (${marks}) AS is_behind`;
    const isBehind = (key: RowKey, other: RowKey): boolean =>
      sql(compare).get(...key, ...other)?.['is_behind'] === 1;
    const lastKey = (rows: readonly Row[]): RowKey =>
      Object.keys(start).map((name) => rows.at(-1)?.[name] ?? null);
    const rowsAfter = (after: RowKey, limit: number): readonly Row[] | undefined => {
      try {
        const rows = sql(select).all(...after, limit);
        // Damaged pages can form a loop, which would be read forever: rows that do not come after `after` count as
        // unreadable.
        return rows.length === 0 || isBehind(lastKey(rows), after) ? rows : undefined;
      } catch {
        return undefined;
      }
    };
    // Finds a key from which on rows can be read again, as close behind the unreadable ones as its steps allow.
    const keyBehind = (after: RowKey): RowKey | undefined => {
      let last = after;
      for (const key of keysBehind(after, Object.values(start))) {
        if (!isBehind(key, last)) continue;
        if (rowsAfter(key, 1) !== undefined) return last === after ? key : last;
        last = key;
      }
      return undefined;
    };
    let [after, limit]: [RowKey | undefined, number] = [Object.values(start), MOST_ROWS];
    while (after !== undefined) {
      const rows = rowsAfter(after, limit);
      if (rows !== undefined || limit === 1) yield rows;
      if (rows !== undefined) after = rows.length < limit ? undefined : lastKey(rows);
      else if (limit === 1) after = keyBehind(after);
      limit = rows === undefined ? Math.ceil(limit / 4) : Math.min(limit * 4, MOST_ROWS);
    }
  }

  /** Copies the readable rows of a table to the table of the same name in `to`. Returns whether all rows were copied. */
  async copy(table: string, start: KeyStart, to: Store): Promise<boolean> {
    let isAll = true;
    for (const rows of this.read(table, start)) {
      const areAll = rows !== undefined && (await to.write((sql) => insertAll(sql, table, rows)));
      isAll &&= areAll;
    }
    return isAll;
  }

  close(): void {
    this.#connection.close();
  }
}

/**
 * Inserts rows, except those that violate a constraint, such as a row whose parent row is lost. Returns whether all rows
 * were inserted.
 */
function insertAll(sql: Sql, table: string, rows: readonly Row[]): boolean {
  let areAll = true;
  for (const row of rows) {
    const columns = Object.keys(row);
    const marks = columns.map(() => '?').join(', ');
    try {
      sql(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`).run(...Object.values(row));
    } catch (error) {
      if (!isConstraint(error)) throw error;
      areAll = false;
    }
  }
  return areAll;
}

/** Yields keys that come after `key`, at growing distances from it. */
function* keysBehind(key: RowKey, start: RowKey): Generator<RowKey> {
  for (let column = key.length - 1; column >= 0; column--) {
    for (const value of valuesBehind(key[column])) {
      yield [...key.slice(0, column), value, ...start.slice(column + 1)];
    }
  }
}

function* valuesBehind(value: SqlValue | undefined): Generator<SqlValue> {
  if (typeof value === 'number') for (let step = 1; step < 2 ** 52; step *= 2) yield value + step;
  if (typeof value !== 'string') return;
  for (let at = value.length - 1; at >= 0; at--) {
    for (let step = 1; step < 2 ** 16; step *= 2) {
      yield value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) + step);
    }
  }
}
