import {
  RECORDED,
  type DeletionRecord,
  type DeletionStore,
  type DeliveryEnd,
  type PendingDelivery,
  type SourceDeletion,
} from './state.ts';

interface Entry {
  readonly record: DeletionRecord;
  /** By source, then by the id of the delivery: whether it was delivered; undefined: it is not settled. */
  readonly sources: Map<string, Map<string, boolean | undefined>>;
  readonly queued: Map<string, number>;
}

/** Lasts as long as its process, and remembers the latest requests. */
export class MemoryDeletionStore implements DeletionStore {
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry>();

  constructor(capacity = 1_000) {
    this.#capacity = capacity;
  }

  async add(record: DeletionRecord): Promise<void> {
    const sources = new Map(Object.keys(record.sources).map((source) => [source, new Map()]));
    this.#entries.set(record.id, { record, sources, queued: new Map() });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#capacity && oldest !== undefined) this.#entries.delete(oldest);
  }

  async queued(id: string, source: string, deliveryIds: readonly string[]): Promise<void> {
    const entry = this.#entries.get(id);
    const ends = entry?.sources.get(source);
    entry?.queued.set(source, deliveryIds.length);
    // Some may have come to their end already.
    for (const deliveryId of deliveryIds) if (!ends?.has(deliveryId)) ends?.set(deliveryId, undefined);
  }

  async settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    this.#entries.get(id)?.sources.get(source)?.set(deliveryId, isDelivered);
  }

  async pending(id: string): Promise<readonly PendingDelivery[]> {
    return [...(this.#entries.get(id)?.sources ?? [])].flatMap(([source, ends]) =>
      [...ends].filter(([, end]) => end === undefined).map(([deliveryId]) => ({ source, deliveryId })),
    );
  }

  async get(id: string): Promise<DeletionRecord | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const sources = [...entry.sources].map(([source, ends]): [string, SourceDeletion] => {
      const deliveries = entry.queued.get(source);
      return [source, { ...RECORDED, ...(deliveries !== undefined && { deliveries }), ...counts(ends) }];
    });
    return { ...entry.record, sources: Object.fromEntries(sources) };
  }
}

function counts(ends: ReadonlyMap<string, boolean | undefined>): { delivered: number; failed: number } {
  const values = [...ends.values()];
  return {
    delivered: values.filter((end) => end === true).length,
    failed: values.filter((end) => end === false).length,
  };
}
