import type { Clock } from '../../../clock.ts';
import type { Series, Server } from '../server.ts';
import { NO_PROGRESS, withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type {
  DropResult,
  DueResult,
  LaneStats,
  Page,
  QueueInspection,
  RetryResult,
  DeliverySelection,
} from '../../../queue/inspection.ts';
import type { Lane } from '../../../queue/queue.ts';
import { seriesName, ServerLanes } from './server-lanes.ts';
import { ServerListing } from './server-listing.ts';
import { ServerOrder } from './server-order.ts';
import { serverStats } from './server-stats.ts';
import { entryId, entryToDelivery, noteOf, toNewEntry } from './server-record.ts';

/** The most ids in one lookup: more would not be found in time. */
const LOOKED_UP_AT_ONCE = 1_000;
/** The most deliveries in one step: their bodies are read where they are not given. */
const CHANGED_AT_ONCE = 1_000;

/**
 * Looks into a ServerQueue, from its process or another. What waits is counted as `pending` until it is put off for a retry,
 * and again once that is due. The order of listing is by lane and state, earliest first.
 */
export class ServerInspection implements QueueInspection {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #lanes: ServerLanes;
  readonly #order: ServerOrder;
  readonly #listing: ServerListing;

  constructor({ server, clock }: { readonly server: Server; readonly clock: Clock }) {
    this.#server = server;
    this.#clock = clock;
    this.#lanes = new ServerLanes(server);
    this.#order = new ServerOrder(server, this.#lanes);
    this.#listing = new ServerListing(this.#lanes);
  }

  stats(): Promise<readonly LaneStats[]> {
    return serverStats(this.#lanes);
  }

  list(selection: DeliverySelection): Promise<Page> {
    return this.#listing.page(selection);
  }

  ids(states: readonly DeliveryState[]): Promise<readonly string[]> {
    return this.#listing.ids(states);
  }

  async get(id: string): Promise<Delivery | undefined> {
    return (await this.getAll([id]))[0];
  }

  async getAll(ids: readonly string[]): Promise<readonly (Delivery | undefined)[]> {
    const found = await this.#find(ids);
    return ids.map((id) => {
      const delivery = found.get(id)?.delivery;
      return delivery && withDamageShown(delivery);
    });
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>> {
    const states = new Map<string, DeliveryState>();
    for (let at = 0; at < ids.length; at += LOOKED_UP_AT_ONCE) {
      const found = await this.#find(ids.slice(at, at + LOOKED_UP_AT_ONCE));
      for (const [id, { delivery }] of found) states.set(id, delivery.state);
    }
    return states;
  }

  async retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    const results: RetryResult[] = [];
    for (let at = 0; at < ids.length; at += CHANGED_AT_ONCE) {
      const some = ids.slice(at, at + CHANGED_AT_ONCE);
      const found = await this.#find(some);
      // One after the other: behind what waits in its order keys, each comes in its turn.
      for (const id of some) results.push(await this.#retry(id, found.get(id)));
    }
    return results;
  }

  async makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    const results: DueResult[] = [];
    for (let at = 0; at < ids.length; at += CHANGED_AT_ONCE) {
      const some = ids.slice(at, at + CHANGED_AT_ONCE);
      const found = await this.#find(some);
      results.push(...(await Promise.all(some.map((id) => this.#makeDue(id, found.get(id))))));
    }
    return results;
  }

  async drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    const results: DropResult[] = [];
    for (let at = 0; at < deliveries.length; at += CHANGED_AT_ONCE) {
      results.push(...(await this.#drop(deliveries.slice(at, at + CHANGED_AT_ONCE))));
    }
    return results;
  }

  /** Finds lanes whose registration was lost, too: looks through everything on the server. */
  findLanes(): Promise<void> {
    return this.#lanes.find();
  }

  /** The deliveries that are there, by id. */
  async #find(ids: readonly string[]): Promise<ReadonlyMap<string, Found>> {
    const found = new Map<string, Found>();
    for (const lane of await this.#lanes.all()) {
      for (const isArrival of [false, true]) {
        const missing = ids.filter((id) => !found.has(id));
        if (missing.length === 0) return found;
        const series = isArrival ? this.#lanes.deadSeries(lane) : this.#lanes.series(lane);
        for (const each of await findIn({ series, lane, isArrival }, missing)) {
          found.set(each.delivery.id, each);
        }
      }
    }
    return found;
  }

  async #retry(id: string, found: Found | undefined): Promise<RetryResult> {
    if (found === undefined) return 'unknown';
    const { series, delivery, takes, isArrival } = found;
    if (delivery.state === 'delivered') return 'delivered';
    if (delivery.state !== 'dead') return 'waiting';
    if (delivery.reason === 'invalid') return 'invalid';
    if (delivery.isDamaged) return 'damaged';
    const now = Math.floor(this.#clock.now());
    const { attempts } = delivery.progress;
    await this.#order.rejoin(delivery, now);
    const progress = { ...NO_PROGRESS, attempts };
    if (isArrival) return this.#arrive({ ...delivery, dueAt: now, progress }, series);
    await series.writeNote(entryId(id), noteOf({ progress, takes, dueAt: now }));
    return (await series.requeue(entryId(id))) ? 'retried' : 'waiting';
  }

  /** Makes a retried delivery due. It is first in its order keys, so only its own time holds it back. */
  async #makeDue(id: string, found: Found | undefined): Promise<DueResult> {
    if (found === undefined) return 'unknown';
    const { series, delivery } = found;
    const { state, progress, isDamaged } = delivery;
    if (isDamaged) return 'dead';
    if (state !== 'retrying') return state === 'pending' ? 'due' : state;
    const dueAt = Math.floor(this.#clock.now());
    await series.writeNote(entryId(id), noteOf({ progress: { ...progress, notBefore: {} }, dueAt }));
    await series.promoteAll([entryId(id)]);
    return 'due';
  }

  /** Adds a dead letter to the entries that are delivered. After a kill in between it is there twice: the dead letter can be dropped. */
  async #arrive(delivery: Delivery, from: Series): Promise<RetryResult> {
    const series = seriesName(delivery);
    await this.#server.add([
      toNewEntry({ ...delivery, state: 'pending' }, { series, isHeld: false, now: delivery.dueAt }),
    ]);
    await from.remove([entryId(delivery.id)]);
    return 'retried';
  }

  async #drop(wanted: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    const found = await this.#find(wanted.filter((each) => typeof each === 'string'));
    const known = [
      ...[...found.values()].map(({ delivery }) => delivery),
      ...wanted.filter((each) => typeof each !== 'string'),
    ];
    const dropped = await this.#dropFound(known.filter(({ state }) => state !== 'sending'));
    const results = new Map(
      known.map(({ id }): [string, DropResult] => [id, dropped.has(id) ? 'dropped' : 'sending']),
    );
    return wanted.map((each) => results.get(typeof each === 'string' ? each : each.id) ?? 'unknown');
  }

  /** Returns the ids of those that it has removed. A dead letter lies in either series of its lane. */
  async #dropFound(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>> {
    const dropped = new Set<string>();
    for (const areDead of [false, true]) {
      const left = deliveries.filter(({ id, state }) => !areDead || (state === 'dead' && !dropped.has(id)));
      for (const [series, some] of this.#lanes.bySeries(left, areDead)) {
        const removed = await this.#remove(series, some);
        for (const [index, { id }] of some.entries()) if (removed[index]) dropped.add(id);
      }
    }
    return dropped;
  }

  #remove(series: Series, deliveries: readonly Delivery[]): Promise<readonly boolean[]> {
    return this.#order.removing(deliveries, Math.floor(this.#clock.now()), () =>
      series.remove(deliveries.map(({ id }) => entryId(id))),
    );
  }
}

interface Found {
  readonly series: Series;
  readonly delivery: Delivery;
  /** How often its entry was taken. */
  readonly takes: number;
  /** Whether it was a dead letter when it came. */
  readonly isArrival: boolean;
}

async function findIn(
  { series, lane, isArrival }: Pick<Found, 'series' | 'isArrival'> & { readonly lane: Lane },
  ids: readonly string[],
): Promise<readonly Found[]> {
  return (await series.get(ids.map(entryId))).flatMap((entry) => {
    if (entry === undefined) return [];
    return {
      series,
      delivery: entryToDelivery(entry, { ...lane, isArrival }),
      takes: entry.takes,
      isArrival,
    };
  });
}
