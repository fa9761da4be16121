import type { Clock } from '../../../clock.ts';
import { withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type {
  DeliveredAttempts,
  DeliverySelection,
  DropResult,
  DueResult,
  LaneStats,
  Page,
  QueueInspection,
  RetryResult,
} from '../../../queue/inspection.ts';
import { inParts } from '../in-parts.ts';
import type { Server } from '../server.ts';
import { dropEntries, makeEntriesDue, retryEntries } from './server-changes.ts';
import { findDeliveries } from './server-find.ts';
import { ServerLanes } from './server-lanes.ts';
import { ServerListing } from './server-listing.ts';
import { lastDelivered, oldestUnsettled, serverStats } from './server-stats.ts';

/** Maximum deliveries to change in one step, which may read the bodies of all of them. */
const CHANGED_AT_ONCE = 1_000;

/**
 * Inspects a ServerQueue, from its process or another. `stats` counts a delivery as `pending` again once its retry is due.
 * Lists are ordered by lane and state, earliest first.
 */
export class ServerInspection implements QueueInspection {
  readonly #clock: Clock;
  readonly #lanes: ServerLanes;
  readonly #listing: ServerListing;

  constructor(options: { readonly server: Server; readonly clock: Clock; readonly lanes?: ServerLanes }) {
    const { server, clock, lanes = new ServerLanes(server) } = options;
    this.#clock = clock;
    this.#lanes = lanes;
    this.#listing = new ServerListing(lanes);
  }

  stats(): Promise<readonly LaneStats[]> {
    return serverStats(this.#lanes);
  }

  lastDelivered(limit: number): Promise<readonly DeliveredAttempts[]> {
    return lastDelivered(this.#lanes, limit);
  }

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
    const found = await findDeliveries(this.#lanes, ids);
    return new Map([...found].map(([id, { delivery }]) => [id, delivery.state]));
  }

  retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    return inParts(ids, CHANGED_AT_ONCE, (some) => retryEntries(this.#lanes, some, this.#now()));
  }

  makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    return inParts(ids, CHANGED_AT_ONCE, (some) => makeEntriesDue(this.#lanes, some, this.#now()));
  }

  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    return inParts(deliveries, CHANGED_AT_ONCE, (some) => dropEntries(this.#lanes, some));
  }

  #now(): number {
    return Math.floor(this.#clock.now());
  }
}
