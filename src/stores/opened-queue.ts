import type { Clock } from '../clock.ts';
import { MemoryDeletionStore } from './memory/memory-deletion-store.ts';
import type { DeletionStore } from '../deletion/state.ts';
import type { QueueInspection } from '../queue/inspection.ts';
import { MemoryQueue } from './memory/memory-queue.ts';
import type { Queue, QueueDepth } from '../queue/queue.ts';
import type { RetentionOptions } from './sqlite/queue/retention.ts';
import { MemorySeen, type Seen } from '../service/seen.ts';
import type { Server } from './server/server.ts';
import type { CheckOptions, Store } from './sqlite/file/store.ts';

/** What is kept between calls, and what of it can be asked. */
export interface OpenQueue {
  readonly queue: Queue;
  /** What the times in it go by. */
  readonly clock: Clock;
  readonly seen: Seen;
  readonly deletions: DeletionStore;
  readonly depth: () => Promise<QueueDepth>;
  /** Rejects when nothing could be stored: nothing more, unless it is only to settle what is there. */
  readonly check: (options?: CheckOptions) => Promise<void>;
  /** What of its settings could lose or refuse what is in it, a sentence each. */
  readonly warnings: () => Promise<readonly string[]>;
  /** Whether what is in it outlives the process. */
  readonly isDurable: boolean;
  /** Whether other processes may add to it. */
  readonly isShared: boolean;
  /** The queue, then whatever it is in. */
  readonly close: () => Promise<void>;
}

export interface DurableQueueOptions {
  /** `sqlite:FILE`, a path, or the URL of a server; undefined: `hooks.db` in the data folder. */
  readonly store: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  /** @default nothing that is settled is forgotten */
  readonly retention?: RetentionOptions;
  /** Whether to make a file that is missing. @default true */
  readonly create?: boolean;
}

/** All in one store, which several processes may share. */
export interface DurableQueue extends OpenQueue {
  /** The file, or the URL of the server as it may be shown. */
  readonly place: string;
  /** Undefined: it is in a file. */
  readonly server: Server | undefined;
  /** Undefined: it is on a server. */
  readonly file: Store | undefined;
  readonly inspection: QueueInspection;
  /** What was lost when it was opened, in words. Also one of `warnings`. */
  readonly loss: string | undefined;
  /** Has the inspection look into whatever is there, also where nothing says that it is: a server may have lost that. */
  readonly findLanes: () => Promise<void>;
  /** Where audiences are: in the same file, or over a server in the data folder's. Closed with the queue. */
  readonly audienceStore: () => Promise<Store>;
}

/** Ends with the process. */
export function openMemoryQueue(clock: Clock): OpenQueue {
  const queue = new MemoryQueue(clock);
  return {
    queue,
    clock,
    seen: new MemorySeen(clock),
    deletions: new MemoryDeletionStore(),
    depth: () => queue.depth(),
    check: async () => {
      await queue.lanes();
    },
    warnings: async () => [],
    isDurable: false,
    isShared: false,
    close: () => queue.close(),
  };
}

export async function depthOf(inspection: QueueInspection): Promise<QueueDepth> {
  const sum = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };
  for (const lane of await inspection.stats()) {
    sum.pending += lane.pending;
    sum.sending += lane.sending;
    sum.retrying += lane.retrying;
    sum.delivered += lane.delivered;
    sum.dead += lane.dead;
  }
  return sum;
}
