import { join } from 'node:path';
import { caughtUp } from './caught-up.ts';
import { openAudienceStore } from './open-audiences.ts';
import { depthOf, type DurableQueue, type DurableQueueOptions, type QueueFile } from './opened-queue.ts';
import { isServer } from './server/server-url.ts';
import { giveBackSpace, givesBackInSteps, rewriteStore, settledBytes } from './sqlite/file/free-space.ts';
import { openStore } from './sqlite/file/open-store.ts';
import type { Store } from './sqlite/file/store.ts';
import { QUEUE_TABLES } from './sqlite/queue/queue-tables.ts';
import { SqliteInspection } from './sqlite/queue/sqlite-inspection.ts';
import { SqliteQueue } from './sqlite/queue/sqlite-queue.ts';
import { AUDIENCE_TABLES, SqliteAudienceStore } from './sqlite/sqlite-audience-store.ts';
import { DELETION_TABLES, forgetDeletions, SqliteDeletionStore } from './sqlite/sqlite-deletion-store.ts';
import { SEEN_TABLES, SqliteSeen } from './sqlite/sqlite-seen.ts';

export type { DurableQueue };

/** Throws ConfigError for a store of another kind, QueueError for one that cannot be used. */
export function openDurableQueue(options: DurableQueueOptions): Promise<DurableQueue> {
  const place = options.store ?? join(options.dataDir, FILE);
  return isServer(place) ? openOnServer(place, options) : openFileQueue(place, options);
}

/** In the data folder. */
const FILE = 'hooks.db';

async function openOnServer(
  url: string,
  { clock, retention, dataDir }: DurableQueueOptions,
): Promise<DurableQueue> {
  // Its packages (BullMQ, the drivers) are installed by those who have a server.
  const { openServerQueue } = await import('./server/open-server-queue.ts');
  const { server, queue, inspection, seen, deletions } = await openServerQueue(url, { clock, retention });
  let audiences: ReturnType<typeof openAudienceStore> | undefined;
  return {
    place: server.place,
    server,
    file: undefined,
    queue,
    clock,
    inspection,
    loss: undefined,
    findLanes: () => inspection.findLanes(),
    seen,
    deletions: caughtUp(deletions, inspection),
    depth: () => depthOf(inspection),
    check: () => server.check(),
    warnings: () => server.warnings(),
    audiences: () => (audiences ??= openAudienceStore(join(dataDir, FILE), clock)),
    isDurable: true,
    isShared: true,
    close: async () => {
      await queue.close();
      await server.close();
      await (await audiences)?.close();
    },
  };
}

/** As `openDurableQueue`, for a file: with its store. */
export async function openFileQueue(
  place: string,
  { clock, retention, create = true }: Pick<DurableQueueOptions, 'clock' | 'retention' | 'create'>,
): Promise<DurableQueue & { readonly store: Store }> {
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
    file: fileOf(store),
    store,
    queue,
    clock,
    inspection,
    findLanes: async () => {},
    seen: new SqliteSeen(store, clock),
    deletions: caughtUp(new SqliteDeletionStore(store), inspection),
    depth: () => depthOf(inspection),
    check: async (forWhat) => {
      await store.check(forWhat);
      // Damaged pages may be unreadable, though there is room to write.
      await queue.lanes();
    },
    loss,
    warnings: async () => (loss === undefined ? [] : [loss]),
    audiences: async () => new SqliteAudienceStore(store, clock),
    isDurable: true,
    isShared: true,
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}

function fileOf(store: Store): QueueFile {
  return {
    givesBackInSteps: () => givesBackInSteps(store),
    giveBackSpace: (goesOn) => giveBackSpace(store, { goesOn }),
    rewrite: () => rewriteStore(store.file),
    settledBytes: () => settledBytes(store.file),
  };
}

function lossOf({ cutCommits, file }: Store): string | undefined {
  if (cutCommits === 0) return undefined;
  const commits = cutCommits === 1 ? '1 commit' : `${cutCommits} commits`;
  return `${commits} cut: the log of ${file} is damaged, and what was committed behind the damage is lost`;
}
