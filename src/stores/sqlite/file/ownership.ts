import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { QueueError } from '../../../errors.ts';
import { printable } from '../../../redact.ts';
import { withDatabase, type Database, type Row } from './sqlite.ts';

/** The `PRAGMA application_id` with which hooks marks its files: "hook" in ASCII. */
export const APPLICATION_ID = 0x686f6f6b;

/**
 * Throws QueueError for a database of another program, and SQLite's error for a file that is no database. Changes neither
 * the bytes nor the journal mode of the file.
 */
export async function assertOwnFile(file: string): Promise<void> {
  const url = pathToFileURL(file).href;
  // `immutable` takes no lock, creates no other file, and does not read the log. The file without its log already has the
  // application id of hooks.
  const isStamped = await withDatabase(
    `${url}?immutable=1`,
    READING,
    (database) => applicationIdOf(database) === APPLICATION_ID,
  )
    // An error of this read is ignored: without lock and log, an intact file looks damaged while a log is written into it,
    // or if the writing process was killed.
    .catch(() => false);
  if (isStamped) return;
  const foreign = await withDatabase(await readingUrl(file), READING, foreignSign);
  if (foreign === undefined) return;
  throw new QueueError(`The queue ${file} is a database of another program (${foreign})`, {
    file,
    hint: 'name another file with --store; this one is left as it was',
  });
}

/**
 * The URL to read a file with its log, if it exists: committed tables may be only in the log, while the file alone seems
 * empty. Without a log, the connection creates none, because it takes the file for `immutable`.
 */
export async function readingUrl(file: string): Promise<string> {
  const log = await stat(`${file}-wal`).catch(() => undefined);
  const mode = log !== undefined && log.size > 0 ? 'mode=ro' : 'immutable=1';
  return `${pathToFileURL(file).href}?${mode}`;
}

const READING = { timeout: 1_000, readOnly: true };

export function applicationIdOf(database: Database): number {
  return Number(database.prepare('PRAGMA application_id').get()?.['application_id']);
}

/** Returns how the file differs from files of hooks. Undefined if it has the application id of hooks, or is empty. */
function foreignSign(database: Database): string | undefined {
  const id = applicationIdOf(database);
  if (id === APPLICATION_ID) return undefined;
  if (id !== 0) return `its application_id is 0x${(id >>> 0).toString(16).padStart(8, '0')}`;
  const first = firstOf(database);
  if (first === undefined) return formatSign(database);
  return `it has the ${String(first['type'])} ${printable(String(first['name']), 80)}, and no table of hooks`;
}

/**
 * Returns a text that names the user_version of a database without tables, because it shows that the file is of another
 * program. Undefined if the user_version is 0, as in an empty database.
 */
function formatSign(database: Database): string | undefined {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  return version === 0 ? undefined : `its user_version is ${String(version)}, and it has no table`;
}

function firstOf(database: Database): Row | undefined {
  return database.prepare('SELECT type, name FROM sqlite_master LIMIT 1').get();
}
