import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sleep, type Clock } from '../../../clock.ts';
import { ConfigError, QueueError } from '../../../errors.ts';
import { printable, redactUrl } from '../../../redact.ts';
import { DiskRoom } from './disk-room.ts';
import { prepareFiles, removeUnused } from './files.ts';
import { APPLICATION_ID } from './ownership.ts';
import { SqliteConnection } from './connection.ts';
import { cutCommits } from './cut-commits.ts';
import { migrate, type Tables } from './schema.ts';
import { loadSqlite, type Database } from './sqlite.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { busyError, isBusy, isDiskFull, storeError } from './store-error.ts';

export interface StoreOptions {
  readonly clock: Clock;
  /** Whose tables are used. */
  readonly tables: readonly Tables[];
  /** Whether to make the file, and its folder, when it is missing. @default true */
  readonly create?: boolean;
}

/** While opening, others are waited for without a turn of the event loop. */
const OPENING_WAIT_MS = 5_000;
const OPENING_RETRY_MS = 20;
/** Afterwards the wait is between the turns (sqlite-store.ts), but for the short time that a commit of another takes. */
const TURN_WAIT_MS = 5;

/**
 * Opens the file and brings its tables up to date.
 * @param place `sqlite:PATH` or a path.
 * @throws ConfigError for another kind of place, QueueError for a file that cannot be used.
 */
export async function openStore(
  place: string,
  { clock, tables, create = true }: StoreOptions,
): Promise<Store> {
  const file = fileOf(place);
  if (!create && (await isMissing(file))) throw noQueue(file);
  const giveUpAt = clock.now() + OPENING_WAIT_MS;
  const room = new DiskRoom(file);
  let cut = 0;
  for (;;) {
    try {
      const isNew = await prepareFiles(file);
      cut ||= await cutCommits(file);
      const connection = await connect(file, { tables, waitMs: OPENING_WAIT_MS, isNew });
      return new SqliteStore(connection, {
        file,
        room,
        clock,
        cutCommits: cut,
        reopen: () => reconnect(file, tables),
      });
    } catch (error) {
      if (isDiskFull(error) && room.giveUpReserve()) continue;
      // Turning the write-ahead log on lets others not wait: they get an error at once that the file is locked.
      if (!isBusy(error) || clock.now() >= giveUpAt) throw storeError(error, file);
    }
    await sleep(clock, OPENING_RETRY_MS);
  }
}

/** Whatever else is wrong with it is told when it is opened. */
async function isMissing(file: string): Promise<boolean> {
  try {
    await stat(file);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'; // of a file operation
  }
}

function noQueue(file: string): QueueError {
  return new QueueError(`There is no queue at ${file}`, {
    file,
    hint: 'serve, worker, send --queue and audience sync make it; --store names another',
  });
}

interface Connecting {
  readonly tables: readonly Tables[];
  /** How long to wait for other programs that hold the file. */
  readonly waitMs: number;
  /** Whether this process made the file, and removes it when nothing can be stored in it. */
  readonly isNew: boolean;
}

/** Up to date; not open when it cannot be brought there. */
async function connect(file: string, { tables, waitMs, isNew }: Connecting): Promise<SqliteConnection> {
  const { DatabaseSync } = await loadSqlite();
  try {
    return connected(new DatabaseSync(file, { timeout: waitMs }), tables, file);
  } catch (error) {
    if (isNew) await removeUnused(file);
    throw error;
  }
}

function connected(database: Database, tables: readonly Tables[], file: string): SqliteConnection {
  try {
    setUp(database);
    migrate(database, tables, file);
    database.exec(`PRAGMA busy_timeout = ${TURN_WAIT_MS}`);
    return new SqliteConnection(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * After an error. When an fsync has failed, what was written before it and not yet synced may be gone from the disk, though
 * it can be read and the next fsync succeeds. So all that is in the log is written into the file, and a new log is begun.
 */
async function reconnect(file: string, tables: readonly Tables[]): Promise<SqliteConnection> {
  const isNew = await prepareFiles(file);
  const connection = await connect(file, { tables, waitMs: TURN_WAIT_MS, isNew });
  try {
    const { busy } = connection.sql('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0) throw busyError();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function setUp(database: Database): void {
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
  if (pages === 0) {
    // Possible only before anything is stored; an older file gets it by `hooks queue vacuum`, since that takes long.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    // In the file itself, before its log begins: reading a damaged log to find out whose file it is would repair the log.
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  }
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() ?? {};
  if (mode !== 'wal') {
    throw new Error(`its file system does not let SQLite keep a write-ahead log (${String(mode)})`);
  }
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA foreign_keys = ON');
  // Memory stays small however large the file is. A larger cache gains nothing: whatever is not in it, the operating system has.
  database.exec('PRAGMA cache_size = -4096');
  // The log alone holds little (sqlite-store.ts writes it back every second), and the log does not stay large.
  // A page that several commits change is written back once.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
  database.exec('PRAGMA journal_size_limit = 67108864');
}

/** The file of a place. @throws ConfigError */
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
      hint: 'for example sqlite:./hooks.db; without it, it is a file in the data folder',
    },
  );
}

/** `~/hooks.db`, `~me/hooks.db`: a shell puts a folder in its place, but not inside a word. */
const HOME = /^~[^/\\]*[/\\]/;

function homeless(path: string): ConfigError {
  return new ConfigError(`Expected \`store\` to be a path in full, got ${printable(path, 80)}`, {
    key: 'store',
    hint: 'write the home folder out: ~ stands for it in a shell only',
  });
}
