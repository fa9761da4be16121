import type { Change } from './difference.ts';
import type { PartitionUpdate } from './store.ts';

export interface PartitionChanges {
  readonly partition: number;
  readonly changes: readonly Change[];
  /** The entries that stay as they are, and how many they are. */
  readonly kept: Uint8Array;
  readonly keptMembers: number;
}

/**
 * Partitions whose changes are marked, sent and kept together:
 *
 *   doubtful in the store ─► handed to the client ─► every outcome known ─► kept in the store
 *
 * Whatever ends the process in between leaves all of them doubtful, and the next sync tells them again.
 */
export class SyncBatch {
  readonly partitions: readonly PartitionChanges[];
  readonly changes: readonly Change[];
  readonly #told = new Set<Change>();
  #open = 0;
  #isComplete = false;
  #resolve: () => void = () => {};
  /** Resolves when no more changes are handed over and each that was has its outcome. */
  readonly settled = new Promise<void>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(partitions: readonly PartitionChanges[]) {
    this.partitions = partitions;
    this.changes = partitions.flatMap(({ changes }) => changes);
  }

  /** All users of the batch, each of whom may get a message from now on. */
  doubts(): readonly Pick<PartitionUpdate, 'partition' | 'doubtful'>[] {
    return this.partitions.map(({ partition, changes }) => ({
      partition,
      doubtful: changes.map(({ id }) => id),
    }));
  }

  handed(): void {
    this.#open++;
  }

  ended(change: Change, isTold: boolean): void {
    this.#open--;
    if (isTold) this.#told.add(change);
    this.#check();
  }

  /** No more of it will be handed over. */
  complete(): void {
    this.#isComplete = true;
    this.#check();
  }

  /** The next content of the partitions: confirmed users have the input's entry; all others keep theirs, and stay doubtful. */
  updates(): readonly PartitionUpdate[] {
    return this.partitions.map(({ partition, changes, kept, keptMembers }) => {
      const lines = changes
        .map((change) => (this.#told.has(change) ? change.after : change.before))
        .filter((line) => line !== undefined);
      return {
        partition,
        members: keptMembers + lines.length,
        entries: Buffer.concat([kept, Buffer.from(lines.map((line) => `${line}\n`).join(''))]),
        doubtful: changes.filter((change) => !this.#told.has(change)).map(({ id }) => id),
      };
    });
  }

  #check(): void {
    if (this.#isComplete && this.#open === 0) this.#resolve();
  }
}
