import { QueueError } from '../../../errors.ts';

/** The part of the `node:sqlite` API that both Node's own module and the replacement package have. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue>>;

/**
 * A prepared statement. `iterate` is left out, because the process crashes (SIGSEGV) if the garbage collector collects a
 * statement whose iteration is paused.
 */
export interface Statement {
  run(...values: SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

interface DatabaseOptions {
  /** Milliseconds to wait for a lock of another connection. */
  readonly timeout: number;
  /** Whether to open the file for reading only. @default false */
  readonly readOnly?: boolean;
  /** Whether SQL cannot set `writable_schema`. Older versions of Node ignore this and always allow it. @default true */
  readonly defensive?: boolean;
}

interface Sqlite {
  /** `file` may be a `file:` URL with SQLite's own parameters. */
  readonly DatabaseSync: new (file: string, options: DatabaseOptions) => Database;
}

/** The first version of SQLite that cannot corrupt a database in WAL mode when a checkpoint and a write happen at once. */
const SAFE_VERSION = [3, 51, 3];

/** Loads Node's own SQLite if its version is safe, or else the replacement package. Throws QueueError if it has neither. */
export async function loadSqlite(): Promise<Sqlite> {
  return builtIn() ?? (await replacement());
}

/** Returns why this Node cannot open a database. Undefined if it can. */
export async function engineProblem(): Promise<QueueError | undefined> {
  try {
    await loadSqlite();
    return undefined;
  } catch (error) {
    if (error instanceof QueueError) return error;
    throw error;
  }
}

/** Opens a database, calls `use` with it, and closes it. */
export async function withDatabase<T>(
  file: string,
  options: DatabaseOptions,
  use: (database: Database) => T,
): Promise<T> {
  return useDatabase(new (await loadSqlite()).DatabaseSync(file, options), use);
}

function useDatabase<T>(database: Database, use: (database: Database) => T): T {
  try {
    return use(database);
  } finally {
    database.close();
  }
}

function builtIn(): Sqlite | undefined {
  // Before Node 22.13, `node:sqlite` is missing or behind a flag.
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 13)) return undefined;
  const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite')) as Sqlite | undefined; // the types are those of Node 20
  return sqlite !== undefined && isSafe(sqlite) ? sqlite : undefined;
}

/** Hides the warning of Node that `node:sqlite` is experimental, which means nothing to the user of a command. */
function withoutWarning<T>(load: () => T): T {
  // eslint-disable-next-line typescript/unbound-method -- it is not called, but put back as it was
  const { emitWarning } = process;
  process.emitWarning = (): void => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isSafe({ DatabaseSync }: Sqlite): boolean {
  return useDatabase(new DatabaseSync(':memory:', { timeout: 0 }), (database) => {
    const { version } = database.prepare('SELECT sqlite_version() AS version').get() ?? {};
    return isAtLeast(String(version), SAFE_VERSION);
  });
}

export function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const index = least.findIndex((part, place) => part !== parts[place]);
  return index === -1 || (parts[index] ?? 0) > (least[index] ?? 0);
}

/** Loads the optional peer dependency, which only an old Node needs: the prebuilt programs of six platforms are 29 MB. */
async function replacement(): Promise<Sqlite> {
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new QueueError(
      `SQLite ${SAFE_VERSION.join('.')} or newer is required, and Node ${process.versions.node} has ${process.versions['sqlite'] ?? 'none'}`,
      {
        hint: 'use Node 22.22.3, 24.15 or newer, or run `npm install @photostructure/sqlite@1` next to hooks-cli (with --global if hooks-cli is global)',
        cause,
      },
    );
  }
}
