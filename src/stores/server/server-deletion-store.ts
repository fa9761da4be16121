import { createHash } from 'node:crypto';
import type { Fact, Server } from './server.ts';
import {
  recordOf,
  type DeletionRecord,
  type DeletionStore,
  type DeliveryEnd,
  type NewDeletion,
  type RecordedDelivery,
  type SourceDeletion,
} from '../../deletion/state.ts';

/** Maximum deletion requests to keep in memory: more are rarely settled at the same time. */
const MOST_KNOWN = 8;

/** The content of the fact of a deletion request, which is written once. */
interface Request {
  readonly createdAt: number;
  readonly userIds: readonly string[];
  /** Ids of the deliveries of the request, by source. */
  readonly deliveryIds: readonly (readonly [string, readonly string[]])[];
}

interface Known {
  readonly deletion: NewDeletion;
  /** The `deliveryIds` of the request, as sets. */
  readonly sets: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface ServerDeletionOptions {
  /** Ms for which a deletion request is kept. @default forever */
  readonly keepMs?: number | undefined;
}

/**
 * Stores a fact for each deletion request, and a separate fact for the end of each of its deliveries, so that processes
 * do not overwrite the ends that others stored. Facts expire at the end of their retention.
 */
export class ServerDeletionStore implements DeletionStore {
  readonly #server: Server;
  readonly #keepMs: number;
  /** The deletion requests that were read last, by id. */
  readonly #known = new Map<string, Promise<Known | undefined>>();
  /** Delivery ids by deletion request, then by source. Contains only requests whose last part has not arrived yet. */
  readonly #gathered = new Map<string, Map<string, string[]>>();

  constructor(server: Server, { keepMs = Infinity }: ServerDeletionOptions = {}) {
    this.#server = server;
    this.#keepMs = keepMs;
  }

  /**
   * Writes the deletion request with its last part, after its deliveries are stored. A delivery that is settled before
   * that is not recorded as delivered, so the queue is asked about it.
   */
  async add(deletion: NewDeletion, stored: Promise<unknown>): Promise<void> {
    const { id, createdAt, userIds, part } = deletion;
    const gathered = this.#gathered.get(id) ?? new Map<string, string[]>();
    for (const [source, ids] of deletion.deliveryIds) {
      gathered.set(source, [...(gathered.get(source) ?? []), ...ids]);
    }
    const isLast = part === undefined || part.index === part.of - 1;
    if (isLast) this.#gathered.delete(id);
    else this.#gathered.set(id, gathered);
    try {
      await stored;
    } catch (error) {
      this.#gathered.delete(id);
      throw error;
    }
    if (!isLast) return;
    const request: Request = { createdAt, userIds, deliveryIds: [...gathered] };
    await this.#put(factName('request', [id]), JSON.stringify(request), createdAt);
  }

  async settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    const known = await this.#find(id);
    if (known?.sets.get(source)?.has(deliveryId) !== true) return;
    // Overwrites the earlier end of this delivery, if it was a dead letter and was retried.
    const name = factName('end', [id, source, deliveryId]);
    await this.#put(name, textOfEnd(isDelivered), known.deletion.createdAt);
  }

  async undelivered(id: string): Promise<readonly RecordedDelivery[]> {
    const known = await this.#reread(id);
    const all = [...(known?.deletion.deliveryIds ?? [])].map(async ([source, ids]) => {
      const ends = await this.#ends(id, source, ids);
      return ids
        .map((deliveryId, index) => ({ source, deliveryId, isDelivered: endOf(ends[index]) }))
        .filter(({ isDelivered }) => isDelivered !== true);
    });
    return (await Promise.all(all)).flat();
  }

  async get(id: string): Promise<DeletionRecord | undefined> {
    const { deletion } = (await this.#reread(id)) ?? {};
    if (deletion === undefined) return undefined;
    const record = recordOf(deletion);
    const sources = Object.entries(record.sources).map(
      async ([name, source]): Promise<[string, SourceDeletion]> => {
        const ends = await this.#ends(id, name, deletion.deliveryIds.get(name) ?? []);
        const count = (end: string): number => ends.filter((each) => each === end).length;
        return [name, { ...source, delivered: count(DELIVERED), failed: count(FAILED) }];
      },
    );
    return { ...record, sources: Object.fromEntries(await Promise.all(sources)) };
  }

  /**
   * Returns a deletion request from memory, or reads it. Concurrent callers share one read, because a request may be long
   * and never changes.
   */
  #find(id: string): Promise<Known | undefined> {
    return this.#known.get(id) ?? this.#reread(id);
  }

  /** Reads a deletion request again, because it may have expired since the last read. */
  #reread(id: string): Promise<Known | undefined> {
    const reading = this.#read(id);
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

  async #read(id: string): Promise<Known | undefined> {
    const [text] = await this.#server.facts.get([factName('request', [id])]);
    if (text === undefined) return undefined;
    const { createdAt, userIds, deliveryIds } = JSON.parse(text) as Request; // written only by add
    return {
      deletion: { id, createdAt, userIds, deliveryIds: new Map(deliveryIds) },
      sets: new Map(deliveryIds.map(([source, ids]) => [source, new Set(ids)])),
    };
  }

  /** How each delivery ended: DELIVERED, FAILED or WAITING; undefined if nothing is stored about it. */
  #ends(
    id: string,
    source: string,
    deliveryIds: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    return this.#server.facts.get(deliveryIds.map((each) => factName('end', [id, source, each])));
  }

  #put(name: string, text: string, createdAt: number): Promise<void> {
    const expiresAt = this.#keepMs === Infinity ? undefined : createdAt + this.#keepMs;
    const fact: Fact = { name, text, expiresAt };
    return this.#server.facts.put([fact]);
  }
}

const DELIVERED = 'delivered';
const FAILED = 'failed';
/** The stored end of a dead letter that was retried, so that it has not ended after all. */
const WAITING = '';

function textOfEnd(isDelivered: boolean | undefined): string {
  if (isDelivered === undefined) return WAITING;
  return isDelivered ? DELIVERED : FAILED;
}

function endOf(text: string | undefined): boolean | undefined {
  return text === DELIVERED || (text === FAILED ? false : undefined);
}

function factName(kind: string, of: readonly string[]): string {
  return `deletion-${kind}:${createHash('sha256').update(JSON.stringify(of)).digest('base64url')}`;
}
