import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StoreOptions } from './open-store.ts';
import { probeFolder, type UnusableReason } from '../../../file-problem.ts';
import { DiskRoom } from './disk-room.ts';
import { SqliteConnection } from './connection.ts';
import { assertNotEmpty } from './files.ts';
import { assertOwnFile } from './ownership.ts';
import { assertSchema } from './schema.ts';
import { loadSqlite, type Database } from './sqlite.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { isBusy, storeError, storeProblem } from './store-error.ts';

/** Facts about the file of a store that can be read without creating or changing it. */
export interface StoreExamination {
  readonly file: string;
  readonly bytes: number;
  /** The permission bits of the file, such as `0o600`. */
  readonly mode: number;
  /** Version of the SQLite library in use, such as `3.51.3`. */
  readonly sqliteVersion: string;
  readonly isLocked: boolean;
  /** The damage that SQLite's quick check found. Undefined if there is none, or if the file was too large to check. */
  readonly damage: string | undefined;
  readonly isChecked: boolean;
}

/** Facts about the folder of a file, or about the nearest folder above that exists. */
export interface FileEnvironment {
  /** Free bytes on the disk that this user may use. Infinity if the file system does not report them. */
  readonly freeBytes: number;
  /** Why this user cannot create files in the folder. Undefined if the user can. */
  readonly problem: UnusableReason | undefined;
}

/** Examines the folder of a file. Throws the error of the file system if no folder can be found. */
export async function fileEnvironmentOf(file: string): Promise<FileEnvironment> {
  const folder = await nearestFolder(dirname(file));
  const { bavail, bsize, blocks } = await statfs(folder);
  const error = probeFolder(file);
  return {
    // A file system without blocks, such as /proc, does not report its room.
    freeBytes: blocks === 0 ? Infinity : bavail * bsize,
    problem: error === undefined ? undefined : storeProblem(error, file),
  };
}

async function nearestFolder(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error; // of a file operation
    return nearestFolder(parent);
  }
}

/** Size of the largest file to check for damage. The check reads the whole file, and a person would not wait longer. */
const LARGEST_CHECKED = 256 * 1024 * 1024;
const LOCK_WAIT_MS = 1_000;

/** Examines an existing file. If it is not damaged, calls `use` to read more. Throws QueueError if it cannot be opened. */
export async function examineStore<T>(
  file: string,
  { clock, tables }: Pick<StoreOptions, 'clock' | 'tables'>,
  use: (store: Store) => Promise<T>,
): Promise<StoreExamination & { readonly used: T | undefined }> {
  const { DatabaseSync } = await loadSqlite();
  try {
    const { size: bytes, mode } = await stat(file);
    await assertNotEmpty(file);
    await assertOwnFile(file);
    const open = (): Database => new DatabaseSync(file, { timeout: LOCK_WAIT_MS });
    const database = open();
    const store = new SqliteStore(new SqliteConnection(database, file), {
      file,
      room: new DiskRoom(file),
      clock,
      reopen: async () => new SqliteConnection(open(), file),
    });
    try {
      assertSchema(database, tables, file);
      const isChecked = bytes <= LARGEST_CHECKED;
      const seen: StoreExamination = {
        file,
        bytes,
        mode: mode & 0o777,
        sqliteVersion: String(valueOf(database, 'SELECT sqlite_version()')),
        isLocked: isLocked(database),
        damage: isChecked ? damageOf(database) : undefined,
        isChecked,
      };
      return { ...seen, used: seen.damage === undefined ? await use(store) : undefined };
    } finally {
      await store.close();
    }
  } catch (error) {
    throw storeError(error, file);
  }
}

function isLocked(database: Database): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    database.exec('ROLLBACK');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

function damageOf(database: Database): string | undefined {
  const found = String(valueOf(database, 'PRAGMA quick_check(1)'));
  return found === 'ok' ? undefined : found;
}

function valueOf(database: Database, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
