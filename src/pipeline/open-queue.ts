import type { Clock } from '../clock.ts';
import { MemoryDeletionStore } from '../deletion/memory-store.ts';
import type { DeletionStore } from '../deletion/state.ts';
import { MemoryQueue } from '../queue/memory-queue.ts';
import type { Queue, QueueDepth } from '../queue/queue.ts';
import { MemorySeen, type Seen } from '../service/seen.ts';

/** What is kept between calls, and what of it can be asked. */
export interface OpenQueue {
  readonly queue: Queue;
  readonly seen: Seen;
  readonly deletions: DeletionStore;
  readonly depth: () => Promise<QueueDepth>;
  /** Rejects when nothing could be stored. */
  readonly check: () => Promise<void>;
  /** Whether what is in it outlives the process. */
  readonly isDurable: boolean;
  /** Whether other processes may add to it. */
  readonly isShared: boolean;
  /** The queue, then whatever it is in. */
  readonly close: () => Promise<void>;
}

/** Ends with the process. */
export function openMemoryQueue(clock: Clock): OpenQueue {
  const queue = new MemoryQueue(clock);
  return {
    queue,
    seen: new MemorySeen(clock),
    deletions: new MemoryDeletionStore(),
    depth: () => queue.depth(),
    check: async () => {
      await queue.lanes();
    },
    isDurable: false,
    isShared: false,
    close: () => queue.close(),
  };
}
