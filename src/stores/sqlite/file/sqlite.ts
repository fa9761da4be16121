import { QueueError } from '../../../errors.ts';

/** The part of the `node:sqlite` API that is used, which Node's own module and its replacement have in common. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue>>;

/** Without `iterate`: a statement that the garbage collector finds during a pause of the iteration ends the process (SIGSEGV). */
export interface Statement {
  run(...values: SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

interface DatabaseOptions {
  /** How long to wait for others. Ms. */
  readonly timeout: number;
  /** @default false */
  readonly readOnly?: boolean;
  /** False: `writable_schema` can be set. Older versions of Node do not know it, and allow that. @default true */
  readonly defensive?: boolean;
}

interface Sqlite {
  /** `file` may be a `file:` URL with SQLite's own parameters. */
  readonly DatabaseSync: new (file: string, options: DatabaseOptions) => Database;
}

/** The first SQLite in which a checkpoint and a write at once cannot corrupt a database in WAL mode. */
const SAFE_VERSION = [3, 51, 3];

/** Node's own SQLite where it is safe, else the package that brings one. Throws QueueError when there is neither. */
export async function loadSqlite(): Promise<Sqlite> {
  return builtIn() ?? (await replacement());
}

function builtIn(): Sqlite | undefined {
  // Before 22.13 it is behind a flag or not there.
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 13)) return undefined;
  const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite')) as Sqlite | undefined; // the types are those of Node 20
  return sqlite !== undefined && isSafe(sqlite) ? sqlite : undefined;
}

/** Hides the warning that the module is experimental: it does not concern the reader of a command's output. */
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
  const database = new DatabaseSync(':memory:', { timeout: 0 });
  try {
    const { version } = database.prepare('SELECT sqlite_version() AS version').get() ?? {};
    return isAtLeast(String(version), SAFE_VERSION);
  } finally {
    database.close();
  }
}

export function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const index = least.findIndex((part, place) => part !== parts[place]);
  return index === -1 || (parts[index] ?? 0) > (least[index] ?? 0);
}

async function replacement(): Promise<Sqlite> {
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new QueueError(
      `The durable queue needs SQLite ${SAFE_VERSION.join('.')} or newer, which Node ${process.versions.node} does not bring`,
      { hint: 'run `npm install @photostructure/sqlite` next to hooks-cli, or use a newer Node', cause },
    );
  }
}
