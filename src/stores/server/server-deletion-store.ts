import { factName, type Server } from './server.ts';
import type {
  DeletionRecord,
  DeletionStore,
  DeliveryEnd,
  NewDeletion,
  RecordedDelivery,
  SourceDeletion,
} from '../../deletion/state.ts';

/** Maximum deletion requests to keep in memory. The deliveries of more requests are rarely settled at the same time. */
const MOST_KNOWN = 8;

/** A deletion request without its id. `deliveryIds` has the ids of its deliveries by source, as pairs or as a map. */
interface StoredDeletion<DeliveryIds> extends Pick<NewDeletion, 'createdAt' | 'userIds'> {
  readonly deliveryIds: DeliveryIds;
}

type WrittenDeletion = StoredDeletion<readonly (readonly [string, readonly string[]])[]>;
type KnownDeletion = StoredDeletion<ReadonlyMap<string, ReadonlySet<string>>>;

/** Stores each deletion request as one fact and each end of a delivery as another: processes do not overwrite each other. */
export class ServerDeletionStore implements DeletionStore {
  readonly #server: Server;
  readonly #keepMs: number;
  /** The deletion requests that were read last, by id. */
  readonly #known = new Map<string, Promise<KnownDeletion | undefined>>();
  /** The delivery ids of deletion requests that are not complete yet (`add` gets them in parts), by request and source. */
  readonly #gathered = new Map<string, Map<string, readonly string[]>>();

  /** `keepMs`: time after which the facts of a deletion request expire. @default forever */
  constructor(server: Server, { keepMs = Infinity }: { readonly keepMs?: number | undefined } = {}) {
    this.#server = server;
    this.#keepMs = keepMs;
  }

  /**
   * Writes a deletion request when its last part was added. The caller later reads from the queue how the deliveries ended
   * that had ended by then.
   */
  async add(
    { id, createdAt, userIds, deliveryIds, part }: NewDeletion,
    stored: Promise<unknown>,
  ): Promise<void> {
    await stored.catch((error: unknown) => {
      this.#gathered.delete(id);
      throw error;
    });
    const gathered = this.#gathered.get(id) ?? new Map<string, readonly string[]>();
    this.#gathered.set(id, gathered);
    for (const [source, ids] of deliveryIds) gathered.set(source, [...(gathered.get(source) ?? []), ...ids]);
    if (part !== undefined && part.index < part.of - 1) return;
    this.#gathered.delete(id);
    const written: WrittenDeletion = { createdAt, userIds, deliveryIds: [...gathered] };
    await this.#put(factName('deletion-request', [id]), JSON.stringify(written), createdAt);
  }

  async settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    // Does not read a known deletion request again, because it may be long and never changes.
    const known = await (this.#known.get(id) ?? this.#read(id));
    if (known?.deliveryIds.get(source)?.has(deliveryId) !== true) return;
    const end = isDelivered === undefined ? WAITING : isDelivered ? DELIVERED : FAILED;
    await this.#put(factName('deletion-end', [id, source, deliveryId]), end, known.createdAt);
  }

  async undelivered(id: string): Promise<readonly RecordedDelivery[]> {
    const { deliveryIds = [] } = (await this.#read(id)) ?? {};
    const all = [...deliveryIds].map(([source, ids]) => this.#ends(id, source, ids));
    return (await Promise.all(all)).flat().filter(({ isDelivered }) => isDelivered !== true);
  }

  async get(id: string): Promise<DeletionRecord | undefined> {
    const known = await this.#read(id);
    if (known === undefined) return undefined;
    const { createdAt, userIds, deliveryIds } = known;
    const sources = [...deliveryIds].map(async ([source, ids]): Promise<[string, SourceDeletion]> => {
      const ends = await this.#ends(id, source, ids);
      const count = (end: boolean): number => ends.filter(({ isDelivered }) => isDelivered === end).length;
      return [source, { deliveries: ids.size, delivered: count(true), failed: count(false) }];
    });
    return { id, createdAt, userIds, sources: Object.fromEntries(await Promise.all(sources)) };
  }

  /** Reads a deletion request, which may have expired since the last read, and remembers it for `settled`. */
  #read(id: string): Promise<KnownDeletion | undefined> {
    const reading = this.#server.facts
      .get([factName('deletion-request', [id])])
      .then(([text]) => (text === undefined ? undefined : knownOf(text)));
    this.#known.delete(id);
    this.#known.set(id, reading);
    const forget = (): void => {
      if (this.#known.get(id) === reading) this.#known.delete(id);
    };
    reading.then((found) => found ?? forget(), forget);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return reading;
  }

  async #ends(id: string, source: string, ids: ReadonlySet<string>): Promise<readonly RecordedDelivery[]> {
    const texts = await this.#server.facts.get(
      [...ids].map((each) => factName('deletion-end', [id, source, each])),
    );
    return [...ids].map((deliveryId, index) => {
      const isDelivered = texts[index] === DELIVERED || (texts[index] === FAILED ? false : undefined);
      return { source, deliveryId, isDelivered };
    });
  }

  #put(name: string, text: string, createdAt: number): Promise<void> {
    const expiresAt = this.#keepMs === Infinity ? undefined : createdAt + this.#keepMs;
    return this.#server.facts.put([{ name, text, expiresAt }]);
  }
}

const DELIVERED = 'delivered';
const FAILED = 'failed';
/** Stored as the end of a dead delivery that was retried: it waits again and has no end yet. */
const WAITING = '';

function knownOf(text: string): KnownDeletion {
  const { createdAt, userIds, deliveryIds } = JSON.parse(text) as WrittenDeletion; // written only by add
  return {
    createdAt,
    userIds,
    deliveryIds: new Map(deliveryIds.map(([source, ids]) => [source, new Set(ids)])),
  };
}
