import { setImmediate } from 'node:timers/promises';
import type { JsonValue } from '../message/types.ts';
import {
  addCounts,
  changesIn,
  emptyCounts,
  PartitionComparison,
  type Change,
  type ComparedPartition,
  type Counts,
} from './difference.ts';
import { PARTITIONS } from './entry.ts';
import type { Spill } from './spill.ts';
import type { AudienceKind, PartitionStore } from './store.ts';
import type { PartitionChanges } from './sync-batch.ts';

interface InputComparisonParts {
  readonly kind: AudienceKind;
  readonly partitions: PartitionStore;
  readonly spill: Spill;
  readonly signal: AbortSignal;
}

export interface ComparedInput {
  readonly counts: Counts;
  /** Number of members in the store. */
  readonly before: number;
  /** Indexes of the partitions that have changes. */
  readonly changed: readonly number[];
}

/** Value to send for a user who is no longer in the input. */
const ABSENT: Readonly<Record<AudienceKind, JsonValue>> = { audience: false, trait: null };

/** Compares an input with the stored entries, whose values were sent last. */
export class InputComparison {
  readonly #parts: InputComparisonParts;
  readonly #comparison = new PartitionComparison();

  constructor(parts: InputComparisonParts) {
    this.#parts = parts;
  }

  /** Counts all changes, before any of them is sent. */
  async compareAll(onChange?: (change: Change) => void): Promise<ComparedInput> {
    const { partitions, signal } = this.#parts;
    const counts = emptyCounts();
    const changed: number[] = [];
    let before = 0;
    for (let partition = 0; partition < PARTITIONS && !signal.aborted; partition++) {
      const kept = await partitions.get(partition);
      const part = this.#comparison.compare(kept, this.#given(partition), onChange);
      addCounts(counts, part);
      before += kept.members;
      if (changesIn(part) > 0) changed.push(partition);
      if (partition % 16 === 15) {
        // Yields to the event loop, so that Ctrl-C works.
        await setImmediate();
      }
    }
    return { counts, before, changed };
  }

  /** Returns the changes and the unchanged entries of a partition. */
  async changesOf(partition: number): Promise<PartitionChanges> {
    const stored = await this.#parts.partitions.get(partition);
    const changes: Change[] = [];
    const kept = Buffer.allocUnsafe(stored.entries.length);
    let [end, keptMembers] = [0, 0];
    this.#comparison.compare(
      stored,
      this.#given(partition),
      (change) => changes.push(change),
      (line) => {
        kept.set(line, end);
        end += line.length;
        keptMembers++;
      },
    );
    return { partition, changes, kept: kept.subarray(0, end), keptMembers };
  }

  #given(partition: number): ComparedPartition {
    const { spill, kind } = this.#parts;
    return { chunks: spill.chunksOf(partition), count: spill.countOf(partition), absent: ABSENT[kind] };
  }
}
