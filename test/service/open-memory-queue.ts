import type { Clock } from '../../src/clock.ts';
import { SEEN_FOR_MS, shortId, type Seen } from '../../src/service/ingest/seen.ts';
import { MemoryQueue } from '../../src/stores/open.ts';
import type { OpenQueue } from '../../src/stores/opened-queue.ts';
import { MemoryDeletionStore } from '../deletion/memory-deletion-store.ts';

/** Opens a queue in memory, for tests of the service that need no file. */
export function openMemoryQueue(clock: Clock): OpenQueue {
  const queue = new MemoryQueue(clock);
  return {
    queue,
    clock,
    seen: new MemorySeen(clock),
    deletions: new MemoryDeletionStore(),
    lanes: async () => queue.stats(),
    oldestAt: async () => queue.oldestAt(),
    check: async () => {
      await queue.lanes();
    },
    warnings: async () => [],
    close: () => queue.close(),
  };
}

class MemorySeen implements Seen {
  readonly #clock: Clock;
  readonly #takenAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    return new Set(messageIds.filter((id) => (this.#takenAt.get(keyOf(source, id)) ?? -Infinity) > since));
  }

  async add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void> {
    await stored;
    for (const id of messageIds) this.#takenAt.set(keyOf(source, id), this.#clock.now());
  }
}

function keyOf(source: string, messageId: string): string {
  return JSON.stringify([source, shortId(messageId)]);
}
