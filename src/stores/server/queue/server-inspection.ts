import { withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type {
  DeliveredAttempts,
  DeliverySelection,
  LaneStats,
  Page,
  QueueInspection,
} from '../../../queue/inspection.ts';
import { inParts } from '../in-parts.ts';
import { ServerChanges, type ServerChangesOptions } from './server-changes.ts';
import { findDeliveries } from './server-find.ts';
import { ServerLanes } from './server-lanes.ts';
import { ServerListing } from './server-listing.ts';
import { lastDelivered, oldestUnsettled, serverStats } from './server-stats.ts';

/** Maximum ids to look up in one request: a longer request could exceed the timeout. */
const LOOKED_UP_AT_ONCE = 1_000;

/**
 * Inspects a ServerQueue, from its process or another. A waiting delivery counts as `pending` until it is
 * delayed for a retry, and again once the retry is due. Lists are ordered by lane and state, earliest first.
 */
export class ServerInspection extends ServerChanges implements QueueInspection {
  readonly #lanes: ServerLanes;
  readonly #listing: ServerListing;

  constructor(options: Omit<ServerChangesOptions, 'lanes'> & { readonly lanes?: ServerLanes }) {
    const { lanes = new ServerLanes(options.server) } = options;
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

  /** When the oldest unsettled delivery was added, in ms since the epoch. Takes constant time, however many wait. */
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
    const found = await inParts(ids, LOOKED_UP_AT_ONCE, async (some) => {
      const deliveries = await findDeliveries(this.#lanes, some);
      return [...deliveries].map(([id, { delivery }]) => [id, delivery.state] as const);
    });
    return new Map(found);
  }
}
