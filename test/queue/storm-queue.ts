import { systemClock } from '../../src/clock.ts';
import type { Queue } from '../../src/queue/queue.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../src/stores/sqlite/queue/queue-tables.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { isServer } from '../../src/stores/open.ts';

/** A queue whose close() also closes its store. */
export async function openStormQueue(
  place: string,
  leaseMs: number,
): Promise<Pick<Queue, 'add' | 'claim' | 'renew' | 'settle' | 'close'>> {
  const store = isServer(place)
    ? await openServer(place)
    : await openStore(place, { clock: systemClock, tables: [QUEUE_TABLES] });
  const queue =
    'facts' in store
      ? new ServerQueue({
          server: store,
          clock: systemClock,
          recoverMs: Math.min(2_000, leaseMs / 3),
        })
      : new SqliteQueue({ store, clock: systemClock });
  return {
    add: (deliveries) => queue.add(deliveries),
    claim: (request) => queue.claim(request),
    renew: (claim, progress, ms) => queue.renew(claim, progress, ms),
    settle: (claim, settlement) => queue.settle(claim, settlement),
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}
