import type { EntryState, Series } from '../server.ts';
import { withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type { Page, DeliverySelection } from '../../../queue/inspection.ts';
import type { LaneId } from '../../../queue/queue.ts';
import { groupBySeries, type ServerLanes } from './server-lanes.ts';
import { deliveryId, entryToDelivery } from './server-record.ts';

/** The place of entries in one state: a series and their state in it. */
interface Shelf {
  readonly lane: LaneId;
  readonly series: Series;
  readonly state: EntryState;
  readonly isDead: boolean;
}

interface Listed extends Shelf {
  readonly id: string;
}

/** Ids per command. The server serves others between commands. */
const SLICE = 5_000;
/** Multiplier in a cursor: the number of the listing times PLACES, plus the index of the next id in that listing. */
const PLACES = 2 ** 32;
const LISTINGS_KEPT = 4;

/**
 * Lists deliveries. Reads all ids when a listing begins, some dozen bytes each, and reads the pages by these
 * ids: by position, a delivery that moves during the listing would appear twice or never.
 */
export class ServerListing {
  readonly #lanes: ServerLanes;
  readonly #listings = new Map<number, readonly Listed[]>();
  #begun = 0;

  constructor(lanes: ServerLanes) {
    this.#lanes = lanes;
  }

  async page({ states, since = 0, after = 0, limit, toChange = false }: DeliverySelection): Promise<Page> {
    const number = after === 0 ? await this.#begin(states, toChange) : Math.floor(after / PLACES);
    const ids = this.#listings.get(number) ?? [];
    const deliveries: Delivery[] = [];
    let place = after % PLACES;
    while (place < ids.length && deliveries.length < limit) {
      const some = ids.slice(place, place + limit - deliveries.length);
      place += some.length;
      for (const delivery of await readAll(some)) {
        if (isMeant(delivery, { states, since })) deliveries.push(delivery);
      }
    }
    if (place < ids.length) return { deliveries, next: number * PLACES + place };
    this.#listings.delete(number);
    return { deliveries, next: undefined };
  }

  /**
   * The ids of deliveries in these states. Passing either `pending` or `retrying` includes the deliveries of both states,
   * because their entries are in the same states.
   */
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
    const lanes: (readonly Listed[])[] = [];
    for (const lane of await this.#lanes.all()) lanes.push(await this.#idsIn(lane, states));
    return lanes.flat();
  }

  async #idsIn(lane: LaneId, states: readonly DeliveryState[]): Promise<readonly Listed[]> {
    const found: (readonly Listed[])[] = [];
    for (const shelf of this.#shelvesOf(lane, states)) found.push(await idsOn(shelf));
    return LISTING_ORDER.flatMap((state) => found.filter(([first]) => first?.state === state)).flat();
  }

  #shelvesOf(lane: LaneId, states: readonly DeliveryState[]): readonly Shelf[] {
    const entryStates = new Set(states.flatMap((state) => ENTRY_STATES[state]));
    const series = this.#lanes.series(lane);
    const shelves = READING_ORDER.filter((state) => entryStates.has(state)).map((state) => ({
      lane,
      series,
      state,
      isDead: false,
    }));
    if (!states.includes('dead')) return shelves;
    return [{ lane, series: this.#lanes.deadSeries(lane), state: 'waiting', isDead: true }, ...shelves];
  }
}

/** For each state of a delivery, the states that its entry can be in. */
const ENTRY_STATES: Readonly<Record<DeliveryState, readonly EntryState[]>> = {
  pending: ['waiting', 'delayed'],
  retrying: ['waiting', 'delayed'],
  sending: ['active'],
  delivered: ['completed'],
  dead: ['failed'],
};

/**
 * The order in which states are read: from the last state of an entry to the first, so that an entry that advances
 * meanwhile is read twice, not missed.
 */
const READING_ORDER: readonly EntryState[] = ['failed', 'completed', 'delayed', 'waiting', 'active'];

/**
 * The order of the result. `delayed` is last, because a delivery that waits for an earlier one with its order key is
 * delayed.
 */
const LISTING_ORDER: readonly EntryState[] = ['failed', 'completed', 'active', 'waiting', 'delayed'];

/**
 * Reads the ids of the entries of a series in one state, earliest first. The server lists waiting and active entries newest
 * first.
 */
async function idsOn(shelf: Shelf): Promise<readonly Listed[]> {
  const { series, state } = shelf;
  const ids = new Set<string>();
  for (let start = 0; ; start += SLICE) {
    const slice = await series.ids(state, start, start + SLICE - 1);
    for (const id of slice) ids.add(id);
    if (slice.length < SLICE) break;
  }
  const inOrder = state === 'waiting' || state === 'active' ? [...ids].toReversed() : [...ids];
  return inOrder.map((id) => ({ ...shelf, id }));
}

/** Sorts by the time of adding. Entries of the same millisecond are sorted by their ids, which increase. */
async function inOrderOfAdding(listed: readonly Listed[]): Promise<readonly Listed[]> {
  const added = await readEach(listed, (series, ids) => series.addedAt(ids));
  const timeOf = (each: Listed): number => added.get(each) ?? 0;
  return listed.toSorted((one, other) => timeOf(one) - timeOf(other) || (one.id < other.id ? -1 : 1));
}

/** Reads the deliveries that still exist, in order. */
async function readAll(listed: readonly Listed[]): Promise<readonly Delivery[]> {
  const entries = await readEach(listed, (series, ids) => series.get(ids));
  return listed.flatMap((each) => {
    const entry = entries.get(each);
    if (entry === undefined) return [];
    return withDamageShown(entryToDelivery(entry, { ...each.lane, isArrival: each.isDead }));
  });
}

/** Reads one value for each listed entry, in one command per series. */
async function readEach<T>(
  listed: readonly Listed[],
  read: (series: Series, ids: readonly string[]) => Promise<readonly T[]>,
): Promise<ReadonlyMap<Listed, T | undefined>> {
  const values = new Map<Listed, T | undefined>();
  for (const [series, some] of groupBySeries(listed, (each) => each.series)) {
    const found = await read(
      series,
      some.map(({ id }) => id),
    );
    for (const [index, each] of some.entries()) values.set(each, found[index]);
  }
  return values;
}

function isMeant(
  { state, createdAt }: Delivery,
  { states, since }: { readonly states: readonly DeliveryState[]; readonly since: number },
): boolean {
  return states.includes(state) && createdAt >= since;
}
