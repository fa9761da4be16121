import type {
  DeletionRecord,
  DeletionStore,
  DeliveryEnd,
  NewDeletion,
  RecordedDelivery,
  SourceDeletion,
} from '../../src/deletion/state.ts';

interface Entry {
  readonly deletion: Pick<DeletionRecord, 'id' | 'createdAt' | 'userIds'>;
  /** Whether a delivery was delivered, by source and delivery id. Undefined if it is not settled. */
  readonly ends: Map<string, Map<string, boolean | undefined>>;
}

/** A deletion store in memory. */
export class MemoryDeletionStore implements DeletionStore {
  readonly #entries = new Map<string, Entry>();

  /** Records at once without waiting for `stored`, because a delivery can be settled before all are stored. */
  async add(deletion: NewDeletion, stored: Promise<unknown>): Promise<void> {
    const { id } = deletion;
    const isKnown = this.#entries.has(id);
    const { ends } = this.#entryOf(deletion);
    for (const [source, ids] of deletion.deliveryIds) {
      const ofSource = ends.get(source) ?? new Map<string, boolean | undefined>();
      for (const deliveryId of ids) ofSource.set(deliveryId, undefined);
      ends.set(source, ofSource);
    }
    try {
      await stored;
    } catch (error) {
      if (isKnown) forget(ends, deletion);
      else this.#entries.delete(id);
      throw error;
    }
  }

  async settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    const ends = this.#entries.get(id)?.ends.get(source);
    if (ends?.has(deliveryId) === true) ends.set(deliveryId, isDelivered);
  }

  async undelivered(id: string): Promise<readonly RecordedDelivery[]> {
    return [...(this.#entries.get(id)?.ends ?? [])].flatMap(([source, ends]) =>
      [...ends]
        .map(([deliveryId, isDelivered]) => ({ source, deliveryId, isDelivered }))
        .filter(({ isDelivered }) => isDelivered !== true),
    );
  }

  async get(id: string): Promise<DeletionRecord | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const sources = [...entry.ends].map(([name, ends]): [string, SourceDeletion] => {
      const all = [...ends.values()];
      const count = (end: boolean): number => all.filter((each) => each === end).length;
      return [name, { deliveries: all.length, delivered: count(true), failed: count(false) }];
    });
    return { ...entry.deletion, sources: Object.fromEntries(sources) };
  }

  #entryOf({ id, createdAt, userIds }: NewDeletion): Entry {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const entry: Entry = { deletion: { id, createdAt, userIds }, ends: new Map() };
    this.#entries.set(id, entry);
    return entry;
  }
}

function forget(ends: Entry['ends'], { deliveryIds }: NewDeletion): void {
  for (const [source, ids] of deliveryIds) {
    for (const deliveryId of ids) ends.get(source)?.delete(deliveryId);
  }
}
