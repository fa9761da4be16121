import {
  recordOf,
  type DeletionRecord,
  type DeletionStore,
  type DeliveryEnd,
  type NewDeletion,
  type RecordedDelivery,
  type SourceDeletion,
} from './state.ts';

interface Entry {
  readonly deletion: NewDeletion;
  /** By the id of the delivery: whether it was delivered; without one, it is not settled. */
  readonly ends: Map<string, boolean | undefined>;
}

/** Lasts as long as its process, and remembers the latest requests. */
export class MemoryDeletionStore implements DeletionStore {
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry>();

  constructor(capacity = 1_000) {
    this.#capacity = capacity;
  }

  /** At once: a delivery may come to its end before all are stored. */
  async add(deletion: NewDeletion, stored: Promise<unknown>): Promise<void> {
    const { id } = deletion;
    this.#entries.set(id, { deletion, ends: new Map() });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#capacity && oldest !== undefined) this.#entries.delete(oldest);
    try {
      await stored;
    } catch (error) {
      this.#entries.delete(id);
      throw error;
    }
  }

  async settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry?.deletion.deliveryIds.get(source)?.includes(deliveryId))
      entry.ends.set(deliveryId, isDelivered);
  }

  async undelivered(id: string): Promise<readonly RecordedDelivery[]> {
    const entry = this.#entries.get(id);
    return [...(entry?.deletion.deliveryIds ?? [])].flatMap(([source, deliveryIds]) =>
      deliveryIds
        .map((deliveryId) => ({ source, deliveryId, isDelivered: entry?.ends.get(deliveryId) }))
        .filter(({ isDelivered }) => isDelivered !== true),
    );
  }

  async get(id: string): Promise<DeletionRecord | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const { deletion, ends } = entry;
    const record = recordOf(deletion);
    const count = (source: string, end: boolean): number =>
      (deletion.deliveryIds.get(source) ?? []).filter((each) => ends.get(each) === end).length;
    const sources = Object.entries(record.sources).map(([name, source]): [string, SourceDeletion] => [
      name,
      { ...source, delivered: count(name, true), failed: count(name, false) },
    ]);
    return { ...record, sources: Object.fromEntries(sources) };
  }
}
