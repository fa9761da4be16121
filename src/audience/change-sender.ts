import type { Clock } from '../clock.ts';
import { buildMessage } from '../message/build.ts';
import type { Message } from '../message/types.ts';
import type { Change } from './difference.ts';
import { SyncBatch, type PartitionChanges } from './sync-batch.ts';
import type { AudienceOverview, PartitionStore } from './store.ts';
import { WeightedSemaphore } from '../weighted-semaphore.ts';

/** The size of a batch: large enough that it seldom waits for the disk. */
const BATCH_CHANGES = 1_000;
const BATCH_BYTES = 1024 * 1024;
/** Changes in all batches in flight: several batches, so that a user whose delivery takes long does not hold up the others. */
const CHANGES_IN_FLIGHT = 20_000;
/** The least weight of a batch, since it also holds the other members of its partitions. */
const LEAST_WEIGHT = 2_000;

/** The target of changes: a client, with the pipeline behind it. */
export interface ChangeTarget<O extends ChangeOutcome> {
  /** How many changes may be in flight at once. */
  readonly capacity: number;
  /** Resolves when it takes another change: its client may have less room, or other users. */
  ready(): Promise<void>;
  /** `onOutcome` is called once, later. Throws when it takes no more. */
  deliverThen(message: SyncMessage, onOutcome: (outcome: O) => void): void;
  /** Sends the changes that it has, without waiting for more. */
  flush(): void;
}

export interface SyncMessage {
  readonly message: Message;
  /** Keeps the messages of one user in order, those of an earlier sync first. */
  readonly orderKeys: readonly string[];
}

/** The outcome of a change. `delivered` and `queued`: the message arrived, or will. */
export interface ChangeOutcome {
  readonly outcome: 'delivered' | 'queued' | 'failed' | 'filtered' | 'unsent';
}

export interface ChangeSenderParts<O extends ChangeOutcome> {
  readonly audience: Pick<AudienceOverview, 'trait'>;
  readonly partitions: PartitionStore;
  readonly target: ChangeTarget<O>;
  readonly clock: Clock;
  /** Stops handing over changes; the target finishes those that it has. */
  readonly signal: AbortSignal;
  /** Returns a promise while its receiver is slower. */
  readonly onOutcome: (change: Change, outcome: O) => Promise<void> | undefined;
}

/** Sends changes and keeps their outcomes, with a bounded number of either in flight. */
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

  /** Whether it takes no more changes. */
  get isStopped(): boolean {
    return this.#parts.signal.aborted || this.#failure !== undefined;
  }

  /** Resolves when there is room for another. */
  async add(partition: PartitionChanges): Promise<void> {
    this.#next.push(partition);
    if (isFull(this.#next)) await this.#begin();
  }

  /** Resolves when everything has its outcome and that is kept. Rejects with the first error of the store or the target. */
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
      await this.#hand(batch);
    } catch (error) {
      this.#fail(error);
    }
    batch.complete();
    const keeping = this.#keep(batch, weight).finally(() => this.#keeping.delete(keeping));
    this.#keeping.add(keeping);
  }

  async #hand(batch: SyncBatch): Promise<void> {
    for (const change of batch.changes) {
      const waiting = this.#changes.enter();
      if (waiting !== undefined) {
        // Changes in flight should not wait for this one to fill their batch.
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
      const telling = this.#parts.onOutcome(change, outcome);
      if (telling === undefined) return this.#changes.leave();
      void telling.catch((error: unknown) => this.#fail(error)).then(() => this.#changes.leave());
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
