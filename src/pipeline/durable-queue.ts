import { join } from 'node:path';
import { AUDIENCE_TABLES } from '../audience/tables.ts';
import { forgetDeletions, SqliteDeletionStore } from '../deletion/sqlite-store.ts';
import { DELETION_TABLES } from '../deletion/tables.ts';
import { SqliteInspection } from '../queue/sqlite-inspection.ts';
import { SqliteQueue } from '../queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../queue/tables.ts';
import { SqliteSeen } from '../service/sqlite-seen.ts';
import { SEEN_TABLES } from '../service/tables.ts';
import { openStore } from '../store/open-store.ts';
import { isServer } from '../store/server/scheme.ts';
import { caughtUp } from './caught-up.ts';
import { depthOf, type DurableQueue, type DurableQueueOptions } from './open-queue.ts';

export type { DurableQueue };

/** Throws ConfigError for a store of another kind, QueueError for one that cannot be used. */
export async function openDurableQueue(options: DurableQueueOptions): Promise<DurableQueue> {
  const { dataDir, clock, retention, create = true } = options;
  const place = options.store ?? join(dataDir, 'hooks.db');
  if (isServer(place)) {
    // Its packages are loaded by those who have a server.
    const { openServerQueue } = await import('./server-queue.ts');
    return openServerQueue(place, options);
  }
  const tables = [QUEUE_TABLES, SEEN_TABLES, DELETION_TABLES, AUDIENCE_TABLES];
  const store = await openStore(place, { clock, tables, create });
  const queue = new SqliteQueue({
    store,
    clock,
    ...(retention !== undefined && { retention: { ...retention, alsoForget: forgetDeletions } }),
  });
  const inspection = new SqliteInspection({ store, clock });
  return {
    place: store.file,
    server: undefined,
    file: store,
    queue,
    clock,
    inspection,
    seen: new SqliteSeen(store, clock),
    deletions: caughtUp(new SqliteDeletionStore(store), inspection),
    depth: () => depthOf(inspection),
    check: async (forWhat) => {
      await store.check(forWhat);
      // What is damaged may be readable no longer, though there is room to write.
      await queue.lanes();
    },
    warnings: async () => [],
    audienceStore: async () => store,
    isDurable: true,
    isShared: true,
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}
