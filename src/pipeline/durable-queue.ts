import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { SqliteDeletionStore } from '../deletion/sqlite-store.ts';
import { DELETION_TABLES } from '../deletion/tables.ts';
import type { LaneStats, QueueInspection } from '../queue/inspection.ts';
import type { QueueDepth } from '../queue/queue.ts';
import type { RetentionOptions } from '../queue/retention.ts';
import { SqliteInspection } from '../queue/sqlite-inspection.ts';
import { SqliteQueue } from '../queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../queue/tables.ts';
import { SqliteSeen } from '../service/sqlite-seen.ts';
import { SEEN_TABLES } from '../service/tables.ts';
import { checkStore } from '../store/check.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { caughtUp } from './caught-up.ts';
import type { OpenQueue } from './open-queue.ts';

export interface DurableQueueOptions {
  /** `sqlite:FILE` or a path; undefined: `hooks.db` in the data folder. */
  readonly store: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  /** @default nothing that is settled is forgotten */
  readonly retention?: RetentionOptions;
}

/** All in one file, which several processes may share. */
export interface DurableQueue extends OpenQueue {
  readonly store: Store;
  readonly inspection: QueueInspection;
}

/** Throws ConfigError for a store of another kind, QueueError for a file that cannot be used. */
export async function openDurableQueue(options: DurableQueueOptions): Promise<DurableQueue> {
  const { dataDir, clock, retention } = options;
  const tables = [QUEUE_TABLES, SEEN_TABLES, DELETION_TABLES];
  const store = await openStore(options.store ?? join(dataDir, 'hooks.db'), { clock, tables });
  const queue = new SqliteQueue({ store, clock, ...(retention !== undefined && { retention }) });
  const inspection = new SqliteInspection({ store, clock });
  return {
    store,
    queue,
    inspection,
    seen: new SqliteSeen(store, clock),
    deletions: caughtUp(new SqliteDeletionStore(store), inspection),
    depth: async () => sumOf(await inspection.stats()),
    check: () => checkStore(store, clock),
    isDurable: true,
    isShared: true,
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}

function sumOf(lanes: readonly LaneStats[]): QueueDepth {
  const sum = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };
  for (const lane of lanes) {
    sum.pending += lane.pending;
    sum.sending += lane.sending;
    sum.retrying += lane.retrying;
    sum.delivered += lane.delivered;
    sum.dead += lane.dead;
  }
  return sum;
}
