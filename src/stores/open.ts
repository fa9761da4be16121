import { join } from 'node:path';
import { AUDIENCE_TABLES } from './sqlite/audience-tables.ts';
import { forgetDeletions, SqliteDeletionStore } from './sqlite/sqlite-deletion-store.ts';
import { DELETION_TABLES } from './sqlite/deletion-tables.ts';
import { SqliteInspection } from './sqlite/queue/sqlite-inspection.ts';
import { SqliteQueue } from './sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from './sqlite/queue/queue-tables.ts';
import { SqliteSeen } from './sqlite/sqlite-seen.ts';
import { SEEN_TABLES } from './sqlite/seen-tables.ts';
import { openStore } from './sqlite/file/open-store.ts';
import { isServer } from './server/scheme.ts';
import type { Store } from './sqlite/file/store.ts';
import { caughtUp } from './caught-up.ts';
import { depthOf, type DurableQueue, type DurableQueueOptions } from './opened-queue.ts';

export type { DurableQueue };

/** Throws ConfigError for a store of another kind, QueueError for one that cannot be used. */
export async function openDurableQueue(options: DurableQueueOptions): Promise<DurableQueue> {
  const { clock, retention, create = true } = options;
  const place = options.store ?? join(options.dataDir, 'hooks.db');
  if (isServer(place)) {
    // Its packages are loaded by those who have a server.
    const { openServerQueue } = await import('./server/open-server-queue.ts');
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
  const loss = lossOf(store);
  return {
    place: store.file,
    server: undefined,
    file: store,
    queue,
    clock,
    inspection,
    findLanes: async () => {},
    seen: new SqliteSeen(store, clock),
    deletions: caughtUp(new SqliteDeletionStore(store), inspection),
    depth: () => depthOf(inspection),
    check: async (forWhat) => {
      await store.check(forWhat);
      // What is damaged may be readable no longer, though there is room to write.
      await queue.lanes();
    },
    loss,
    warnings: async () => (loss === undefined ? [] : [loss]),
    audienceStore: async () => store,
    isDurable: true,
    isShared: true,
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}

function lossOf({ cutCommits, file }: Store): string | undefined {
  if (cutCommits === 0) return undefined;
  const commits = cutCommits === 1 ? '1 commit' : `${cutCommits} commits`;
  return `${commits} cut: the log of ${file} is damaged, and what was committed behind the damage is lost`;
}
