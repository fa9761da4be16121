import type { Clock } from '../clock.ts';
import { buildMessage } from '../message/build.ts';
import type { Message } from '../message/types.ts';
import type { Change } from './difference.ts';
import { SyncBatch, type PartitionChanges } from './sync-batch.ts';
import type { AudienceOverview, PartitionStore } from './store.ts';
import { WeightedSemaphore } from '../weighted-semaphore.ts';

/** Size of a batch: large enough that the sender seldom waits for the disk. */
const BATCH_CHANGES = 1_000;
const BATCH_BYTES = 1024 * 1024;
/**
 * Maximum number of changes in all batches in flight: several batches, so that one slow delivery does not delay the others.
 */
const CHANGES_IN_FLIGHT = 20_000;
/**
 * Minimum number of changes that a batch counts as (in CHANGES_IN_FLIGHT), because even a batch with few changes holds all
 * members of its partitions in memory.
 */
const LEAST_WEIGHT = 2_000;

/** The target of changes: a client, with the pipeline behind it. */
export interface ChangeTarget<O extends ChangeOutcome> {
  /** Maximum number of changes of members that are sent and not yet settled. */
  readonly capacity: number;
  /**
   * Resolves when the target has room for another change. The room of its client may be smaller than `capacity`, or shared
   * with other callers of the client.
   */
  ready(): Promise<void>;
  /** Delivers a change, and calls `onOutcome` once, later. Throws if the target is closed. */
  deliverThen(message: SyncMessage, onOutcome: (outcome: O) => void): void;
  /** Sends the pending changes without waiting for a full batch. */
  flush(): void;
}

export interface SyncMessage {
  readonly message: Message;
  /** The user id, which keeps the messages of one user in order, also across syncs. */
  readonly orderKeys: readonly string[];
}

/** The outcome of a change. `delivered` and `queued` confirm the change: its message has arrived, or will arrive. */
export interface ChangeOutcome {
  readonly outcome: 'delivered' | 'queued' | 'failed' | 'filtered' | 'unsent';
}

export interface ChangeSenderParts<O extends ChangeOutcome> {
  readonly audience: Pick<AudienceOverview, 'trait'>;
  readonly partitions: PartitionStore;
  readonly target: ChangeTarget<O>;
  readonly clock: Clock;
  /** Stops the sender. The target still finishes its pending changes. */
  readonly signal: AbortSignal;
  /** Called with each outcome. A returned promise slows the sender down until it resolves. */
  readonly onOutcome: (change: Change, outcome: O) => Promise<void> | undefined;
}

/** Sends changes and stores their outcomes. Limits the changes in flight and those being stored. */
export class ChangeSender<O extends ChangeOutcome> {
  readonly #parts: ChangeSenderParts<O>;
  readonly #batches = new WeightedSemaphore(CHANGES_IN_FLIGHT);
  readonly #changes: WeightedSemaphore;
  readonly #keeping = new Set<Promise<void>>();
  #next: PartitionChanges[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(parts: ChangeSenderParts<O>) {
    this.#parts = parts;
    this.#changes = new WeightedSemaphore(parts.target.capacity);
  }

  /** Whether the sender accepts no more changes. */
  get isStopped(): boolean {
    return this.#parts.signal.aborted || this.#failure !== undefined;
  }

  /** Adds the changes of a partition. Resolves when there is room for another partition. */
  async add(partition: PartitionChanges): Promise<void> {
    this.#next.push(partition);
    if (isFull(this.#next)) await this.#begin();
  }

  /** Resolves when all outcomes are known and stored. Rejects with the first error of the store or the target. */
  async end(): Promise<void> {
    if (this.#next.length > 0) await this.#begin();
    while (this.#keeping.size > 0) await Promise.all(this.#keeping);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #begin(): Promise<void> {
    const batch = new SyncBatch(this.#next);
    this.#next = [];
    const weight = Math.max(batch.changes.length, LEAST_WEIGHT);
    await this.#batches.enter(weight);
    if (this.isStopped) return this.#batches.leave(weight);
    try {
      await this.#parts.partitions.doubt(batch.doubts());
      await this.#sendBatch(batch);
    } catch (error) {
      this.#fail(error);
    }
    batch.complete();
    const keeping = this.#keep(batch, weight).finally(() => this.#keeping.delete(keeping));
    this.#keeping.add(keeping);
  }

  async #sendBatch(batch: SyncBatch): Promise<void> {
    for (const change of batch.changes) {
      const waiting = this.#changes.enter();
      if (waiting !== undefined) {
        // Sends the client's unfinished batch now: this change waits for room, so it cannot fill that batch.
        this.#parts.target.flush();
        await waiting;
      }
      await this.#parts.target.ready();
      if (this.isStopped) return this.#changes.leave();
      this.#deliver(batch, change);
    }
    this.#parts.target.flush();
  }

  #deliver(batch: SyncBatch, change: Change): void {
    const { target, clock, audience } = this.#parts;
    const { userId, value } = change;
    const message = buildMessage(
      { type: 'identify', userId, traits: { [audience.trait]: value } },
      { now: clock.now() },
    );
    batch.handed();
    try {
      target.deliverThen({ message, orderKeys: [userId] }, (outcome) => this.#ended(batch, change, outcome));
    } catch (error) {
      batch.ended(change, false);
      this.#changes.leave();
      throw error;
    }
  }

  #ended(batch: SyncBatch, change: Change, outcome: O): void {
    batch.ended(change, outcome.outcome === 'delivered' || outcome.outcome === 'queued');
    try {
      const reported = this.#parts.onOutcome(change, outcome);
      if (reported === undefined) return this.#changes.leave();
      void reported.catch((error: unknown) => this.#fail(error)).then(() => this.#changes.leave());
    } catch (error) {
      this.#fail(error);
      this.#changes.leave();
    }
  }

  async #keep(batch: SyncBatch, weight: number): Promise<void> {
    await batch.settled;
    try {
      await this.#parts.partitions.keep(batch.updates());
    } catch (error) {
      this.#fail(error);
    }
    this.#batches.leave(weight);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }
}

function isFull(partitions: readonly PartitionChanges[]): boolean {
  let [changes, bytes] = [0, 0];
  for (const partition of partitions) {
    changes += partition.changes.length;
    bytes += partition.kept.length;
  }
  return changes >= BATCH_CHANGES || bytes >= BATCH_BYTES;
}
