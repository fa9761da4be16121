import type { ChunkStore } from '../../audience/store.ts';
import { QueueError, messageOf } from '../../errors.ts';
import { SqliteConnection } from './file/connection.ts';
import { loadSqlite } from './file/sqlite.ts';
import type { Sql } from './file/store.ts';

const TABLES = 'CREATE TABLE chunks (place INTEGER PRIMARY KEY, entries BLOB NOT NULL)';

/** Opens temporary storage for large data. Its file has no name, and disappears when the process ends. */
export async function openChunks(): Promise<ChunkStore> {
  const scratch = await openScratch(TABLES);
  return {
    write: (place, bytes) => {
      scratch.use((sql) => sql('INSERT INTO chunks VALUES (?, ?)').run(place, bytes));
    },
    read: (from, to) =>
      scratch
        .use((sql) =>
          sql('SELECT entries FROM chunks WHERE place >= ? AND place < ? ORDER BY place').all(from, to),
        )
        .map(({ entries }) => entries as Uint8Array), // a BLOB comes as bytes
    close: () => scratch.close(),
  };
}

/** Temporary storage for data that does not fit into memory. Its file has no name, and disappears when the process ends. */
export interface Scratch {
  /** Runs `work` on the storage. Throws QueueError if the disk is full or fails. */
  use<T>(work: (sql: Sql) => T): T;
  close(): void;
}

/** Opens temporary storage with the given tables (SQL), in the folder `SQLITE_TMPDIR`, `TMPDIR` or /var/tmp. */
export async function openScratch(tables: string): Promise<Scratch> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync('', { timeout: 0 });
  // Without journal and syncs: no other process reads the file, and the file does not outlive a crash.
  database.exec('PRAGMA page_size = 32768; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  database.exec('PRAGMA cache_size = -8192');
  database.exec(tables);
  database.exec('BEGIN');
  const connection = new SqliteConnection(database, '');
  return {
    use: (work) => {
      try {
        return work(connection.sql);
      } catch (cause) {
        throw new QueueError(`Temporary files cannot be written or read: ${messageOf(cause)}`, {
          hint: 'make room in /var/tmp, or name another folder with TMPDIR=…',
          cause,
        });
      }
    },
    close: () => connection.close(),
  };
}
