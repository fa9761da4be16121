import type { ChunkStore } from '../../audience/store.ts';
import { openScratch } from './file/scratch.ts';

const TABLES = 'CREATE TABLE chunks (place INTEGER PRIMARY KEY, entries BLOB NOT NULL)';

/** Opens temporary room that has no name and is gone with its process. */
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
