import { constants, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sleep, type Clock } from '../../../clock.ts';
import { ConfigError, QueueError } from '../../../errors.ts';
import { nameNewFile, removeAbandonedBeside, temporaryFileBeside } from '../../../files.ts';
import { printable, redactUrl } from '../../../redact.ts';
import { DiskRoom } from './disk-room.ts';
import {
  assertNotEmpty,
  isEmptyFile,
  isMissing,
  mayAccess,
  prepareFiles,
  removeStore,
  sizeOf,
} from './files.ts';
import { assertOwnFile } from './ownership.ts';
import { SqliteConnection } from './connection.ts';
import { cutCommits, lostPages } from './cut-commits.ts';
import { assertSchema, isNewDatabase, makeTables } from './schema.ts';
import { loadSqlite, type Database } from './sqlite.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { isBusy, isDiskFull, sqliteError, storeError } from './store-error.ts';

export interface StoreOptions {
  readonly clock: Clock;
  /** SQL that creates all tables of the file. */
  readonly tables: readonly string[];
  /** Whether to create a missing file and its folder. @default true */
  readonly create?: boolean | undefined;
  /**
   * Whether the caller neither adds nor delivers. The file may then be read-only, and a file of 0 bytes is rejected instead
   * of initialized. @default false
   */
  readonly isReading?: boolean | undefined;
}

/** Milliseconds to wait for locks while the file is opened. This wait blocks the event loop. */
const OPENING_WAIT_MS = 5_000;
const OPENING_RETRY_MS = 20;
/**
 * Milliseconds to wait for locks once the file is open, enough for a short commit. sqlite-store.ts waits longer without
 * blocking.
 */
const TURN_WAIT_MS = 5;

/**
 * Opens the file of a store, and creates the tables of a new one.
 * @param place `sqlite:PATH` or a path.
 * @throws ConfigError for another kind of store, QueueError for a file that cannot be used.
 */
export async function openStore(
  place: string,
  { clock, tables, create = true, isReading = false }: StoreOptions,
): Promise<Store> {
  const file = fileOf(place);
  const isNew = await isMissing(file);
  if (!create && isNew) throw noQueue(file);
  const giveUpAt = clock.now() + OPENING_WAIT_MS;
  const room = new DiskRoom(file);
  if (isReading) await assertNotEmpty(file);
  const found = { isNew, wasEmpty: await isEmptyFile(file), lostPages: lostPages(file), cutCommits: 0 };
  const isReadOnly = isReading && (await cannotBeWritten(file));
  const reopen = () => (isReadOnly ? connectToRead(file, tables) : reconnect(file, tables));
  for (;;) {
    try {
      if (isReadOnly) {
        return new SqliteStore(await reopen(), { file, room, clock, found, reopen, isReadOnly });
      }
      await prepareFiles(file, () => make(file, tables));
      found.cutCommits ||= await cutCommits(file);
      const connection = await connect(file, tables, OPENING_WAIT_MS);
      return new SqliteStore(connection, { file, room, clock, found, reopen });
    } catch (error) {
      if (isDiskFull(error) && room.giveUpReserve()) continue;
      // Tries again after a lock error: while another process enables the write-ahead log, SQLite fails at once instead of
      // waiting.
      if (!isBusy(error) || clock.now() >= giveUpAt) throw storeError(error, file);
    }
    await sleep(clock, OPENING_RETRY_MS);
  }
}

function noQueue(file: string): QueueError {
  return new QueueError(`There is no queue at ${file}`, {
    file,
    hint: 'create it with serve, worker, send --queue or audience sync, or name another with --store',
  });
}

/** Creates the file with its tables under another name and renames it, so that no process finds it without its tables. */
async function make(file: string, tables: readonly string[]): Promise<void> {
  // Does not create a file to which nothing could be added.
  if (new DiskRoom(file).isShort()) throw storeError({ code: 'ENOSPC' }, file);
  const { DatabaseSync } = await loadSqlite();
  await removeAbandonedBeside(file);
  const fresh = temporaryFileBeside(file);
  try {
    await writeFile(fresh, '', { flag: 'wx', mode: 0o600 });
    const database = new DatabaseSync(fresh, { timeout: 0 });
    // Does not enable WAL mode yet, because the index of the log would have the temporary name.
    initialize(database, tables);
    database.close();
    nameNewFile(fresh, file);
  } catch (error) {
    // EEXIST means that another process has created the file first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // of a file operation, or SQLite's
  } finally {
    await removeStore(fresh);
  }
}

/**
 * Writes the application id and the tables of a new file before it has a log: looking for them in a damaged log would make
 * SQLite repair that log.
 */
function initialize(database: Database, tables: readonly string[]): void {
  // Set first, because SQLite applies `auto_vacuum` only before anything is stored.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  makeTables(database, tables);
}

/** Opens the database and verifies its schema. Closes it again if this fails. */
async function connect(file: string, tables: readonly string[], waitMs: number): Promise<SqliteConnection> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    if (isNewDatabase(database)) {
      initialize(database, tables);
      // Without VACUUM, SQLite does not apply `auto_vacuum` to a file that already has pages.
      database.exec('VACUUM');
    }
    setUp(database);
    assertSchema(database, tables, file);
    database.exec(`PRAGMA busy_timeout = ${TURN_WAIT_MS}`);
    return new SqliteConnection(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether the file exists and this user cannot write it or its folder, for example because its file system is read-only. */
async function cannotBeWritten(file: string): Promise<boolean> {
  if (await isMissing(file)) return false;
  const isWritable = await mayAccess(file, constants.W_OK);
  // SQLite creates the log beside the file.
  return !isWritable || !(await mayAccess(dirname(file), constants.W_OK | constants.X_OK));
}

/**
 * Opens a read-only file. In WAL mode, SQLite needs the index of the log, which it may be unable to create. If so, a file
 * with an empty log is read from a copy. The file is never opened as immutable, because this would hide a log that another
 * process begins.
 */
async function connectToRead(file: string, tables: readonly string[]): Promise<SqliteConnection> {
  await assertOwnFile(file);
  const { DatabaseSync } = await loadSqlite();
  try {
    const database = new DatabaseSync(file, { timeout: OPENING_WAIT_MS, readOnly: true });
    assertSchema(database, tables, file);
    return new SqliteConnection(database, file);
  } catch (error) {
    if (error instanceof QueueError) throw error;
    // An error of SQLite is ignored, because a copy is opened next, which reports every problem but a read-only disk.
  }
  if (await sizeOf(`${file}-wal`)) {
    const hint = `copy ${file}, ${file}-wal and ${file}-shm to a folder that can be written, and name the copy with --store`;
    throw new QueueError(`The queue ${file} is read-only, and its log cannot be read`, { file, hint });
  }
  const folder = await mkdtemp(join(tmpdir(), 'hooks-read-only-'));
  try {
    await copyFile(file, join(folder, 'copy.db'), constants.COPYFILE_FICLONE);
    // On return the copy is removed, but the connection can still read it.
    return await connect(join(folder, 'copy.db'), tables, OPENING_WAIT_MS);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Opens the file again after an error. After a failed fsync, data that was written before may be missing on the disk,
 * although it can be read and the next fsync succeeds. So the whole log is written into the file again, and a new log
 * begins.
 */
async function reconnect(file: string, tables: readonly string[]): Promise<SqliteConnection> {
  await prepareFiles(file, () => make(file, tables));
  const connection = await connect(file, tables, TURN_WAIT_MS);
  try {
    const { busy } = connection.sql('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0) throw sqliteError('database is locked');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function setUp(database: Database): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() ?? {};
  if (mode !== 'wal') {
    throw new Error(`its file system does not let SQLite keep a write-ahead log (${String(mode)})`);
  }
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA foreign_keys = ON');
  // Limits the cache to 4 MB for files of any size. A larger one gains nothing, because the operating system caches the
  // rest.
  database.exec('PRAGMA cache_size = -4096');
  // At 4,000 pages of log, SQLite writes the log back itself. The number is large, because a page that several
  // commits change is then written back once; sqlite-store.ts writes the log back every second anyway.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
  database.exec('PRAGMA journal_size_limit = 67108864');
}

/**
 * Returns the path of the file that `place` (`sqlite:PATH` or a path) names.
 * @throws ConfigError
 */
export function fileOf(place: string): string {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(place) ?? [];
  const path = scheme?.toLowerCase() === 'sqlite' ? rest.replace(/^\/\/(?=\/|[^/]*$)/, '') : place;
  const isFile = scheme === undefined || scheme.toLowerCase() === 'sqlite';
  if (isFile && HOME.test(path)) throw homeless(path);
  if (isFile && path !== '' && !path.startsWith(':') && !path.startsWith('//')) return resolve(path);
  throw new ConfigError(
    `Expected \`store\` to be sqlite:FILE, redis://… or postgres://…, got ${redactUrl(place)}`,
    {
      key: 'store',
      hint: 'use sqlite:./hooks.db for example, or leave it out for a file in the data folder',
    },
  );
}

/** Matches `~/hooks.db` and `~me/hooks.db`: a `~` that no shell has expanded, because it did not begin a word. */
const HOME = /^~[^/\\]*[/\\]/;

function homeless(path: string): ConfigError {
  return new ConfigError(`Expected \`store\` to be a full path, got ${printable(path, 80)}`, {
    key: 'store',
    hint: 'write the home folder in full: only a shell expands ~',
  });
}
