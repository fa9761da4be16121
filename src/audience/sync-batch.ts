import type { Change } from './difference.ts';
import type { PartitionUpdate } from './store.ts';

/** The changes and the unchanged entries of one partition of an audience. */
export interface PartitionChanges {
  readonly partition: number;
  readonly changes: readonly Change[];
  /** The lines of the unchanged entries. `keptMembers`: their number. */
  readonly kept: Uint8Array;
  readonly keptMembers: number;
}

/**
 * Partitions whose changes are marked, sent and stored together:
 *
 *   doubtful in the store ─► handed to the client ─► every outcome known ─► stored
 *
 * If the process ends in between, all users of the batch stay doubtful, and the next sync sends their values again.
 */
export class SyncBatch {
  readonly partitions: readonly PartitionChanges[];
  readonly changes: readonly Change[];
  readonly #confirmed = new Set<Change>();
  #open = 0;
  #isComplete = false;
  #resolve: () => void = () => {};
  /** Resolves after `complete()`, when every change that was handed over has its outcome. */
  readonly settled = new Promise<void>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(partitions: readonly PartitionChanges[]) {
    this.partitions = partitions;
    this.changes = partitions.flatMap(({ changes }) => changes);
  }

  /** Returns marks for all users of the batch, to store before any message is sent. */
  doubts(): readonly Pick<PartitionUpdate, 'partition' | 'doubtful'>[] {
    return this.partitions.map(({ partition, changes }) => ({
      partition,
      doubtful: changes.map(({ id }) => id),
    }));
  }

  /** Counts a change that is handed to the client. */
  handed(): void {
    this.#open++;
  }

  /** Notes the outcome of a change. `isConfirmed`: its message has arrived, or will arrive. */
  ended(change: Change, isConfirmed: boolean): void {
    this.#open--;
    if (isConfirmed) this.#confirmed.add(change);
    this.#check();
  }

  /** Ends the batch: no more of its changes are handed over. */
  complete(): void {
    this.#isComplete = true;
    this.#check();
  }

  /**
   * Returns the new content of the partitions. A user whose change was confirmed gets the entry of the input. Any other user
   * of the batch keeps the stored entry and stays doubtful.
   */
  updates(): readonly PartitionUpdate[] {
    return this.partitions.map(({ partition, changes, kept, keptMembers }) => {
      const lines = changes
        .map((change) => (this.#confirmed.has(change) ? change.after : change.before))
        .filter((line) => line !== undefined);
      return {
        partition,
        members: keptMembers + lines.length,
        entries: Buffer.concat([kept, Buffer.from(lines.map((line) => `${line}\n`).join(''))]),
        doubtful: changes.filter((change) => !this.#confirmed.has(change)).map(({ id }) => id),
      };
    });
  }

  #check(): void {
    if (this.#isComplete && this.#open === 0) this.#resolve();
  }
}
