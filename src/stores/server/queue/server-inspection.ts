import { withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type {
  DeliveredAttempts,
  DeliverySelection,
  LaneStats,
  Page,
  QueueInspection,
} from '../../../queue/inspection.ts';
import { ServerChanges, type ServerChangesOptions } from './server-changes.ts';
import { findDeliveries } from './server-find.ts';
import { ServerLanes } from './server-lanes.ts';
import { ServerListing } from './server-listing.ts';
import { lastDelivered, oldestUnsettled, serverStats } from './server-stats.ts';

/** The most ids in one lookup: more would not be found in time. */
const LOOKED_UP_AT_ONCE = 1_000;

/**
 * Looks into a ServerQueue, from its process or another. What waits is counted as `pending` until it is put off for a retry,
 * and again once that is due. The order of listing is by lane and state, earliest first.
 */
export class ServerInspection extends ServerChanges implements QueueInspection {
  readonly #lanes: ServerLanes;
  readonly #listing: ServerListing;

  constructor(options: Omit<ServerChangesOptions, 'lanes'>) {
    const lanes = new ServerLanes(options.server);
    super({ ...options, lanes });
    this.#lanes = lanes;
    this.#listing = new ServerListing(lanes);
  }

  stats(): Promise<readonly LaneStats[]> {
    return serverStats(this.#lanes);
  }

  lastDelivered(limit: number): Promise<readonly DeliveredAttempts[]> {
    return lastDelivered(this.#lanes, limit);
  }

  /** When the oldest was added that is not settled: without a look at the others, however many wait. Ms since the epoch. */
  oldestAt(): Promise<number | undefined> {
    return oldestUnsettled(this.#lanes);
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
    const found = await findDeliveries(this.#lanes, ids);
    return ids.map((id) => {
      const delivery = found.get(id)?.delivery;
      return delivery && withDamageShown(delivery);
    });
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>> {
    const states = new Map<string, DeliveryState>();
    for (let at = 0; at < ids.length; at += LOOKED_UP_AT_ONCE) {
      const found = await findDeliveries(this.#lanes, ids.slice(at, at + LOOKED_UP_AT_ONCE));
      for (const [id, { delivery }] of found) states.set(id, delivery.state);
    }
    return states;
  }

  /** Finds lanes whose registration was lost, too: looks through everything on the server. */
  findLanes(): Promise<void> {
    return this.#lanes.find();
  }
}
