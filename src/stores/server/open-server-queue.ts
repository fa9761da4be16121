import { join } from 'node:path';
import { AUDIENCE_TABLES } from '../sqlite/audience-tables.ts';
import { ServerDeletionStore } from './server-deletion-store.ts';
import { ServerInspection } from './queue/server-inspection.ts';
import { ServerQueue } from './queue/server-queue.ts';
import { ServerSeen } from './server-seen.ts';
import { openStore } from '../sqlite/file/open-store.ts';
import type { Store } from '../sqlite/file/store.ts';
import { openServer } from './open-server.ts';
import { caughtUp } from '../caught-up.ts';
import { depthOf, type DurableQueue, type DurableQueueOptions } from '../opened-queue.ts';

/** All on one server, which any number of hosts may share. Throws ConfigError for a driver that is missing, QueueError. */
export async function openServerQueue(url: string, options: DurableQueueOptions): Promise<DurableQueue> {
  const { clock, retention } = options;
  const server = await openServer(url);
  const queue = new ServerQueue({ server, clock, ...(retention !== undefined && { retention }) });
  // Its deliveries may be delivered, or dead letters.
  const keepMs = retention && Math.max(retention.deliveredMs, retention.deadMs);
  let file: Promise<Store> | undefined;
  const inspection = new ServerInspection({ server, clock });
  return {
    place: server.place,
    server,
    file: undefined,
    queue,
    clock,
    inspection,
    loss: undefined,
    findLanes: () => inspection.findLanes(),
    seen: new ServerSeen(server, clock),
    deletions: caughtUp(new ServerDeletionStore(server, { keepMs }), inspection),
    depth: () => depthOf(inspection),
    check: () => server.check(),
    warnings: () => server.warnings(),
    audienceStore: () =>
      (file ??= openStore(join(options.dataDir, 'hooks.db'), { clock, tables: [AUDIENCE_TABLES] })),
    isDurable: true,
    isShared: true,
    close: async () => {
      await queue.close();
      await server.close();
      await (await file)?.close();
    },
  };
}
