import { QueueError } from '../../../errors.ts';
import { APPLICATION_ID } from './ownership.ts';
import type { Database } from './sqlite.ts';
import { damagedError } from './store-error.ts';

/**
 * The tables of one folder, and how they came to be what they are: step 1 makes them, each further one changes them.
 * A step is never edited once it was released.
 */
export interface Tables {
  /** The folder they belong to. */
  readonly name: string;
  /** SQL, in order. A part's version is how many of them were taken. */
  readonly steps: readonly string[];
}

/** `PRAGMA user_version`: how the file as a whole is laid out. The version of each folder's tables is in `schema_versions`. */
export const FORMAT = 1;

const OWN_TABLES = `
CREATE TABLE IF NOT EXISTS schema_versions (tables TEXT PRIMARY KEY, version INTEGER NOT NULL);
-- Written to see whether the file can be.
CREATE TABLE IF NOT EXISTS store_checks (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at INTEGER NOT NULL);
`;

/** Brings the tables to what this program knows, all in one transaction. Throws QueueError for a file of a newer one. */
export function migrate(database: Database, tables: readonly Tables[], file: string): void {
  if (isCurrent(database, tables, file)) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(OWN_TABLES);
    // Read again: another process may have been faster.
    for (const each of tables) takeSteps(database, each, file);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(`PRAGMA user_version = ${FORMAT}`);
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** SQLite itself has ended the transaction after a full or failing disk. */
function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // The transaction is over already; the error before it matters.
  }
}

/** Whether the file has our stamp, and the tables are those that this program knows. Throws QueueError for a file of a newer one. */
export function isCurrent(database: Database, tables: readonly Tables[], file: string): boolean {
  const format = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (format > FORMAT) throw tooNew(file, `format ${format}, known is ${FORMAT}`);
  const { application_id: id } = database.prepare('PRAGMA application_id').get() ?? {};
  const list = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'schema_versions'").get();
  if (id === APPLICATION_ID && list === undefined) throw damagedError();
  if (format < FORMAT || id !== APPLICATION_ID) return false;
  return tables.every((each) => versionOf(database, each, file) === each.steps.length);
}

function takeSteps(database: Database, tables: Tables, file: string): void {
  const { name, steps } = tables;
  for (const step of steps.slice(versionOf(database, tables, file))) database.exec(step);
  database
    .prepare('INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT DO UPDATE SET version = excluded.version')
    .run(name, steps.length);
}

function versionOf(database: Database, { name, steps }: Tables, file: string): number {
  const row = database.prepare('SELECT version FROM schema_versions WHERE tables = ?').get(name);
  const version = Number(row?.['version'] ?? 0);
  if (version > steps.length) throw tooNew(file, `${name} ${version}, known is ${steps.length}`);
  return version;
}

function tooNew(file: string, what: string): QueueError {
  return new QueueError(`The queue ${file} was made by a newer version of hooks (${what})`, {
    file,
    hint: 'update hooks here, or name another file with --store',
  });
}
