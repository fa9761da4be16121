import type { AudienceCatalog } from '../audience/store.ts';
import type { Clock } from '../clock.ts';
import type { DeletionStore } from '../deletion/state.ts';
import type { DeadDropping, LaneStats, QueueInspection } from '../queue/inspection.ts';
import type { Queue } from '../queue/queue.ts';
import type { RetentionOptions } from '../queue/retention.ts';
import type { Seen } from '../service/ingest/seen.ts';

/** A queue with its related records, and the questions that monitoring asks. */
export interface OpenQueue {
  readonly queue: Queue;
  /** The clock of all times in the queue. */
  readonly clock: Clock;
  readonly seen: Seen;
  readonly deletions: DeletionStore;
  /** Returns each lane that has deliveries, with their numbers. */
  readonly lanes: () => Promise<readonly LaneStats[]>;
  /** Returns when the oldest unsettled delivery was added. Milliseconds since the epoch. */
  readonly oldestAt: () => Promise<number | undefined>;
  /** Rejects if the store cannot take new deliveries, or with `toAdd: false`, cannot take settlements. */
  readonly check: (options?: CheckOptions) => Promise<void>;
  /** Returns settings that could lose or reject deliveries, a sentence each. */
  readonly warnings: () => Promise<readonly string[]>;
  /**
   * Makes deliveries claimable again that damage has hidden from claims, and returns their number. Undefined if the store
   * cannot lose any.
   */
  readonly sweep?: () => Promise<number>;
  /** Closes the queue, then its store. */
  readonly close: () => Promise<void>;
}

export interface CheckOptions {
  /** False for a process that only settles existing deliveries. @default true */
  readonly toAdd?: boolean;
}

export interface DurableQueueOptions {
  /** `sqlite:FILE`, a path, or the URL of a server. Undefined for `hooks.db` in the data folder. */
  readonly store: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  /** @default settled deliveries are never removed */
  readonly retention?: RetentionOptions;
  /** Whether to create a missing file. @default true */
  readonly create?: boolean;
  /** Whether the caller neither adds nor delivers. It may then open a read-only file, but not one of 0 bytes. @default false */
  readonly isReading?: boolean;
}

/** A queue in a store that several processes may share. */
export interface DurableQueue extends OpenQueue {
  /** The file, or the URL of the server without secrets. */
  readonly place: string;
  /** Undefined on a server. */
  readonly file: QueueFile | undefined;
  readonly inspection: QueueInspection;
  /** A sentence about commits that were lost before opening. Also one of `warnings`. */
  readonly loss: string | undefined;
  /** Finds lanes whose registration a server has lost, so that the inspection sees them. */
  readonly findLanes: () => Promise<void>;
  /** Opens the audiences: in the same file, or for a server, in the file of the data folder. Closed with the queue. */
  readonly audiences: () => Promise<AudienceCatalog>;
  /** Whether both queues use one store. Names do not show this, because a file or a server can have several. */
  readonly isSameStore: (other: DurableQueue) => Promise<boolean>;
}

/** Operations that only a queue in a file has. All methods reject with QueueError. */
export interface QueueFile {
  /**
   * Removes all dead letters added since then, without reading them, in steps between other processes' writes. Keeps the
   * messages of deletion requests, which record how each of them ended.
   */
  dropDead(options: DeadDropping): Promise<void>;
  /** Returns free space to the file system, in steps between other processes' writes. Calls `goesOn` before each step. */
  giveBackSpace(goesOn: () => boolean): Promise<void>;
  /** Copies a snapshot of the file into an empty file, while other processes continue. */
  copyTo(file: string): Promise<void>;
  /** Writes the log into the file, and returns the size of the file in bytes. */
  settledBytes(): Promise<number>;
}

const UNSETTLED = ['pending', 'sending', 'retrying'] as const;

/** Returns the facts for monitoring, from an inspection. */
export function monitored(inspection: QueueInspection): Pick<OpenQueue, 'lanes' | 'oldestAt'> {
  return {
    lanes: () => inspection.stats(),
    oldestAt: async () => (await inspection.list({ states: UNSETTLED, limit: 1 })).deliveries[0]?.createdAt,
  };
}
