import type { AudienceCatalog } from '../audience/store.ts';
import type { Clock } from '../clock.ts';
import type { DeletionStore } from '../deletion/state.ts';
import type { DeadDropping, LaneStats, QueueInspection } from '../queue/inspection.ts';
import type { Queue } from '../queue/queue.ts';
import type { RetentionOptions } from '../queue/retention.ts';
import type { Seen } from '../service/ingest/seen.ts';

/** A queue with the records that belong to it, and what can be asked of them. */
export interface OpenQueue {
  readonly queue: Queue;
  /** The clock of the times in it. */
  readonly clock: Clock;
  readonly seen: Seen;
  readonly deletions: DeletionStore;
  /** Each lane that has anything, with what it has. */
  readonly lanes: () => Promise<readonly LaneStats[]>;
  /** When the oldest delivery that is not settled was added. Ms since the epoch. */
  readonly oldestAt: () => Promise<number | undefined>;
  /** Rejects when nothing could be stored: nothing more, unless it is only to settle what is there. */
  readonly check: (options?: CheckOptions) => Promise<void>;
  /** Settings that could lose or reject deliveries, a sentence each. */
  readonly warnings: () => Promise<readonly string[]>;
  /** Puts back deliveries that no claim would ever find. Returns how many. Undefined: the store can lose none. */
  readonly sweep?: () => Promise<number>;
  /** The queue, then whatever it is in. */
  readonly close: () => Promise<void>;
}

export interface CheckOptions {
  /** False: for a process that only settles what is there. @default true */
  readonly toAdd?: boolean;
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
  /** Whether the caller neither adds nor delivers: it may have a file that cannot be written, and not one of 0 bytes. @default false */
  readonly isReading?: boolean;
}

/** A queue in one store, which several processes may share. */
export interface DurableQueue extends OpenQueue {
  /** The file, or the URL of the server as it may be shown. */
  readonly place: string;
  /** Undefined: it is on a server. */
  readonly file: QueueFile | undefined;
  readonly inspection: QueueInspection;
  /** The commits that were lost when it was opened, as a sentence. Also one of `warnings`. */
  readonly loss: string | undefined;
  /** Finds lanes whose registration a server has lost, so that the inspection sees them. */
  readonly findLanes: () => Promise<void>;
  /** Opens the audiences: in the same file, or over a server in the data folder's. Closed with the queue. */
  readonly audiences: () => Promise<AudienceCatalog>;
  /** Whether both are open on one store. Their names do not tell: a file has several, as a server has. */
  readonly isSameStore: (other: DurableQueue) => Promise<boolean>;
}

/** What only a queue's file can do. All methods reject with QueueError. */
export interface QueueFile {
  /**
   * Removes all dead letters that were added since then, in steps between the writes of others and without reading them.
   * Messages of deletion requests stay: their requests record how each ended.
   */
  dropDead(options: DeadDropping): Promise<void>;
  /** Gives free space back to the file system in steps, between the writes of others. Asks `goesOn` before each step. */
  giveBackSpace(goesOn: () => boolean): Promise<void>;
  /** Copies the file as it is at one moment into an empty file, while others go on delivering. */
  copyTo(file: string): Promise<void>;
  /** Writes the log into the file, and returns the size of the file. */
  settledBytes(): Promise<number>;
}

const UNSETTLED = ['pending', 'sending', 'retrying'] as const;

/** What monitoring asks of an inspection. */
export function monitored(inspection: QueueInspection): Pick<OpenQueue, 'lanes' | 'oldestAt'> {
  return {
    lanes: () => inspection.stats(),
    oldestAt: async () => (await inspection.list({ states: UNSETTLED, limit: 1 })).deliveries[0]?.createdAt,
  };
}
