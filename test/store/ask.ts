import { loadSqlite } from '../../src/store/sqlite.ts';

/** What a file says, past the store: a line for each row, its columns with `|` between them, as `sqlite3` prints them. */
export async function ask(file: string, sql: string): Promise<string[]> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(file, { timeout: 5_000 });
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
