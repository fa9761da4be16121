import { QueueError } from '../../../errors.ts';
import { applicationIdOf, APPLICATION_ID } from './ownership.ts';
import type { Database } from './sqlite.ts';
import { sqliteError } from './store-error.ts';

/**
 * The `PRAGMA user_version` of every file of hooks, which each change of a table increases by 1. Builds before the first
 * release wrote 1 and 2.
 */
export const SCHEMA_VERSION = 3;

const OWN_TABLE = `
-- Written to see whether the file can be.
CREATE TABLE store_checks (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at INTEGER NOT NULL);
`;

/** Whether the file has no tables, and no application id of any program. */
export function isNewDatabase(database: Database): boolean {
  const first = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  return first === undefined && applicationIdOf(database) === 0;
}

/** Creates all tables of an empty file in one transaction, unless another process has done so. `tables` is a list of SQL. */
export function makeTables(database: Database, tables: readonly string[]): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    if (isNewDatabase(database)) {
      for (const sql of [OWN_TABLE, ...tables]) database.exec(sql);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Rolls back a transaction, if SQLite has not already ended it after an error such as a full disk. */
function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // A failed rollback is ignored, because the transaction has already ended, and only the original error matters.
  }
}

/** Throws QueueError for a file with another schema version, and SQLite's error for damage if a table is missing. */
export function assertSchema(database: Database, tables: readonly string[], file: string): void {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const found = new Set(rows.map(({ name }) => name));
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (found.size > 0 && version !== SCHEMA_VERSION) throw otherSchema(file, Number(version));
  const names = [...tables.join('\n').matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name);
  if (!names.every((name) => found.has(name))) throw sqliteError('database disk image is malformed');
}

function otherSchema(file: string, version: number): QueueError {
  const sentence = `The queue ${file} was made by another version of hooks (schema ${version}, expected ${SCHEMA_VERSION})`;
  return new QueueError(sentence, {
    file,
    hint: 'run `hooks queue export --deliveries > FILE` with that version, move the queue away, then run `hooks queue import FILE`',
  });
}
