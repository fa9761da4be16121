import type { AudienceCatalog } from '../audience/store.ts';
import type { Clock } from '../clock.ts';
import type { DeletionStore } from '../deletion/state.ts';
import type { DeadDropping, LaneStats, QueueInspection } from '../queue/inspection.ts';
import type { LaneId, Queue } from '../queue/queue.ts';
import type { RetentionOptions } from '../queue/retention.ts';
import type { KeptSeen, Seen, SeenMessage } from '../service/ingest/seen.ts';

/** An open queue, its records of accepted messages and of deletion requests, and the functions that monitoring needs. */
export interface OpenQueue {
  readonly queue: Queue;
  /** The clock for all times in the queue. */
  readonly clock: Clock;
  readonly seen: Seen;
  readonly deletions: DeletionStore;
  /** Returns the number of deliveries in each state, for each lane that has deliveries. */
  readonly lanes: () => Promise<readonly LaneStats[]>;
  /** Returns when the oldest unsettled delivery was added, in ms since the epoch. Undefined if all are settled. */
  readonly oldestAt: () => Promise<number | undefined>;
  /** Rejects if the store cannot store new deliveries; with `toAdd: false`, only if it cannot store settlements. */
  readonly check: (options?: CheckOptions) => Promise<void>;
  /** The path of the queue's file if opening the queue made the file, so that a mistyped path is visible. */
  readonly madeFile?: string | undefined;
  /** Returns warnings about settings of the store that could lose or reject deliveries: one sentence each. */
  readonly warnings: () => Promise<readonly string[]>;
  /**
   * Makes the deliveries of a lane that wait for a retry due now, except those whose webhook asked for a longer wait, in steps.
   * Calls `goesOn` after each step, and stops if it returns false.
   */
  readonly makeDue?: (lane: LaneId, goesOn: () => boolean) => Promise<void>;
  /**
   * Makes deliveries claimable again that damage has hidden from claims, and returns their number. Undefined if the store
   * cannot hide deliveries.
   */
  readonly sweep?: () => Promise<number>;
  /** Closes the queue, then its store. */
  readonly close: () => Promise<void>;
}

export interface CheckOptions {
  /** Whether the caller adds deliveries. False for a caller that only settles existing deliveries. @default true */
  readonly toAdd?: boolean;
}

export interface DurableQueueOptions {
  /** Place of the queue: `sqlite:FILE`, a path, or the URL of a server. Undefined for `hooks.db` in the data folder. */
  readonly store: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  /** How long settled deliveries are kept. @default forever */
  readonly retention?: RetentionOptions;
  /** Whether to create the file if it is missing. @default true */
  readonly create?: boolean;
  /**
   * Whether the caller neither adds nor delivers. The file of the queue may then be read-only, but not empty. @default
   * false
   */
  readonly isReading?: boolean;
}

/** A queue in a store that several processes may share. */
export interface DurableQueue extends OpenQueue {
  /** The path of the queue's file, or the URL of its server without secrets. */
  readonly place: string;
  /** Operations on the file. Undefined if the queue is on a server. */
  readonly file: QueueFile | undefined;
  readonly inspection: QueueInspection;
  readonly seen: KeptSeen;
  /**
   * Yields the messages that were accepted in the last 24 hours, in pages. A server finds them by its deliveries: it omits
   * those whose deliveries it has deleted.
   */
  readonly acceptedLately: () => AsyncIterable<readonly SeenMessage[]>;
  /**
   * A sentence about commits of the file, or about lanes in the registry of the server, that were lost before the queue was
   * opened. `warnings` returns this sentence, too. Undefined if nothing was lost.
   */
  readonly loss: string | undefined;
  /**
   * Opens the audiences in the file of the queue. For a queue on a server, opens the file in the data folder. The
   * audiences are closed with the queue.
   */
  readonly audiences: () => Promise<AudienceCatalog>;
  /**
   * Whether this queue and `other` use the same store. Comparing their places is not enough, because a file or a server can
   * have several names.
   */
  readonly isSameStore: (other: DurableQueue) => Promise<boolean>;
}

/** Operations that only a queue in a file has. If an operation fails, its promise rejects with QueueError. */
export interface QueueFile {
  /**
   * Removes all dead letters that were added at `since` or later, without reading them, in steps between other processes'
   * writes. Keeps the dead letters of deletion requests, because a deletion request records how each of its deliveries
   * ended.
   */
  dropDead(options: DeadDropping): Promise<void>;
  /**
   * Returns free space of the file to the file system, in steps between the writes of other processes. Calls `goesOn`
   * before each step, and stops if it returns false.
   */
  giveBackSpace(goesOn: () => boolean): Promise<void>;
  /** Whether a process delivers from the file now. */
  isDelivered(): Promise<boolean>;
  /**
   * Binds the file to a config, the absolute path of a file or an empty string for none, unless it is bound already. Returns
   * the config to which it is bound. With `replaces`, the file becomes bound to `config`, and the earlier config is returned.
   */
  bindConfig(config: string, options?: { readonly replaces?: boolean }): Promise<string | undefined>;
  /** Returns the config to which the file is bound. Undefined if it is not bound. */
  boundConfig(): Promise<string | undefined>;
  /** Copies a snapshot of the queue into an empty file, while other processes continue to write. */
  copyTo(file: string): Promise<void>;
  /** Writes the write-ahead log into the file, and returns the size of the file in bytes. */
  settledBytes(): Promise<number>;
}

const UNSETTLED = ['pending', 'sending', 'retrying'] as const;

/** Returns the functions for monitoring that an inspection can serve. */
export function monitored(inspection: QueueInspection): Pick<OpenQueue, 'lanes' | 'oldestAt'> {
  return {
    lanes: () => inspection.stats(),
    oldestAt: async () => (await inspection.list({ states: UNSETTLED, limit: 1 })).deliveries[0]?.createdAt,
  };
}
