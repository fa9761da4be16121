import { loadSqlite, type Database } from '../../../src/stores/sqlite/file/sqlite.ts';

/** Queries a file without the store. Returns a line per row, with ` ` between its columns, as `sqlite3` prints them. */
export async function ask(file: string, sql: string): Promise<string[]> {
  const database = await open(file);
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) =>
        Object.values(row)
          .map((value) => String(value ?? ''))
          .join('|'),
      );
  } finally {
    database.close();
  }
}

/** Changes a file without the store, as a failing disk would. */
export async function run(file: string, sql: string): Promise<void> {
  const database = await open(file);
  database.exec(sql);
  database.close();
}

/** Keeps others from writing to a file until the returned function is called. */
export async function lock(file: string): Promise<() => void> {
  const database = await open(file);
  database.exec('BEGIN IMMEDIATE');
  return () => database.close();
}

async function open(file: string): Promise<Database> {
  const { DatabaseSync } = await loadSqlite();
  return new DatabaseSync(file, { timeout: 5_000 });
}
