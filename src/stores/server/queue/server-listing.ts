import type { EntryState, Series } from '../server.ts';
import { withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type { Page, DeliverySelection } from '../../../queue/inspection.ts';
import { bySeries, type LaneSeriesId, type ServerLanes } from './server-lanes.ts';
import { deliveryId, toDelivery } from './server-record.ts';

/** An entry that a listing contains. */
interface Listed {
  readonly id: string;
  readonly series: Series;
  readonly seriesId: LaneSeriesId;
}

/** The entries of a lane that are in one of its two series and in one state. */
interface EntryGroup {
  readonly entryState: EntryState;
  /** The possible states of the deliveries of the group. */
  readonly states: readonly DeliveryState[];
  readonly isArrival?: boolean;
  /** Place of the group in a listing, among the groups of its lane. */
  readonly rank: number;
}

/**
 * The groups in the order of reading, which is the order in which an entry gets from state to state: an entry that moves
 * meanwhile is read twice, not missed. Delayed entries are read twice, because an active entry can be delayed for a retry.
 * They rank last, because a delivery that waits for another one with its order key is delayed.
 */
const GROUPS: readonly EntryGroup[] = [
  { entryState: 'waiting', states: ['dead'], isArrival: true, rank: 3 },
  { entryState: 'delayed', states: ['pending', 'retrying'], rank: 5 },
  { entryState: 'waiting', states: ['pending', 'retrying'], rank: 4 },
  { entryState: 'active', states: ['sending'], rank: 2 },
  { entryState: 'completed', states: ['delivered'], rank: 1 },
  { entryState: 'failed', states: ['dead'], rank: 0 },
  { entryState: 'delayed', states: ['pending', 'retrying'], rank: 5 },
];

/** Ids to read per command. The server serves other clients between commands. */
const SLICE = 5_000;
/** A cursor is the number of its listing times PLACES, plus the index of the next entry in that listing. */
const PLACES = 2 ** 32;
const LISTINGS_KEPT = 4;

/** Reads all ids of a listing first, some dozen bytes each: pages by position would miss or repeat a delivery that moves. */
export class ServerListing {
  readonly #lanes: ServerLanes;
  readonly #listings = new Map<number, readonly Listed[]>();
  #begun = 0;

  constructor(lanes: ServerLanes) {
    this.#lanes = lanes;
  }

  async page({ states, since = 0, after = 0, limit, toChange = false }: DeliverySelection): Promise<Page> {
    const number = after === 0 ? await this.#begin(states, toChange) : Math.floor(after / PLACES);
    const listed = this.#listings.get(number) ?? [];
    const deliveries: Delivery[] = [];
    let place = after % PLACES;
    while (place < listed.length && deliveries.length < limit) {
      const some = listed.slice(place, place + limit - deliveries.length);
      place += some.length;
      for (const delivery of await readAll(some)) {
        if (states.includes(delivery.state) && delivery.createdAt >= since) deliveries.push(delivery);
      }
    }
    if (place < listed.length) return { deliveries, next: number * PLACES + place };
    this.#listings.delete(number);
    return { deliveries, next: undefined };
  }

  /** Ids of deliveries in these states. Each of `pending` and `retrying` gets both, because their entries share states. */
  async ids(states: readonly DeliveryState[]): Promise<readonly string[]> {
    return (await this.#all(states)).map(({ id }) => deliveryId(id));
  }

  async #begin(states: readonly DeliveryState[], isInOrder: boolean): Promise<number> {
    const listed = await this.#all(states);
    this.#begun++;
    this.#listings.set(this.#begun, isInOrder ? await inOrderOfAdding(listed) : listed);
    this.#listings.delete(this.#begun - LISTINGS_KEPT);
    return this.#begun;
  }

  async #all(states: readonly DeliveryState[]): Promise<readonly Listed[]> {
    const groups = GROUPS.filter((group) => group.states.some((state) => states.includes(state)));
    const listed: (readonly Listed[])[] = [];
    for (const lane of await this.#lanes.all()) {
      const ranked: (readonly Listed[])[] = [];
      for (const { isArrival = false, entryState, rank } of groups) {
        const seriesId = { ...lane, isArrival };
        const series = this.#lanes.series(seriesId);
        const found = (await idsIn(series, entryState)).map((id) => ({ id, series, seriesId }));
        ranked[rank] = [...(ranked[rank] ?? []), ...found];
      }
      listed.push([...new Map(ranked.flat().map((each) => [each.id, each])).values()]);
    }
    return listed.flat();
  }
}

/** Reads the ids of the entries in one state, earliest first. The server lists waiting and active entries newest first. */
async function idsIn(series: Series, state: EntryState): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (let start = 0; ; start += SLICE) {
    const slice = await series.ids(state, start, start + SLICE - 1);
    for (const id of slice) ids.add(id);
    if (slice.length < SLICE) break;
  }
  return state === 'waiting' || state === 'active' ? [...ids].toReversed() : [...ids];
}

/** Sorts by the time of adding. Sorts entries of the same millisecond by their ids, which increase. */
async function inOrderOfAdding(listed: readonly Listed[]): Promise<readonly Listed[]> {
  const added = await bySeries(listed, seriesOf, (series, some) => series.addedAt(idsOf(some)));
  const timeOf = (each: Listed): number => added.get(each) ?? 0;
  return listed.toSorted((one, other) => timeOf(one) - timeOf(other) || (one.id < other.id ? -1 : 1));
}

/** Reads the deliveries that still exist, in order. */
async function readAll(listed: readonly Listed[]): Promise<readonly Delivery[]> {
  const entries = await bySeries(listed, seriesOf, (series, some) => series.get(idsOf(some)));
  return listed.flatMap((each) => {
    const entry = entries.get(each);
    return entry === undefined ? [] : withDamageShown(toDelivery(entry, each.seriesId));
  });
}

function seriesOf({ series }: Listed): Series {
  return series;
}

function idsOf(listed: readonly Listed[]): readonly string[] {
  return listed.map(({ id }) => id);
}
