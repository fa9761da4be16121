import type { SeriesEntry, EntryState, Series } from '../server.ts';
import { withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type { Page, DeliverySelection } from '../../../queue/inspection.ts';
import type { LaneId } from '../../../queue/queue.ts';
import { groupBySeries, type ServerLanes } from './server-lanes.ts';
import { deliveryId, entryToDelivery } from './server-record.ts';

/** Where the entries of one state lie. */
interface Shelf {
  readonly lane: LaneId;
  readonly series: Series;
  readonly state: EntryState;
  readonly isDead: boolean;
}

interface Listed extends Shelf {
  readonly id: string;
}

/** Ids per command: the server serves others between two slices. */
const SLICE = 5_000;
/** A cursor is the number of a listing and a place in it. */
const PLACES = 2 ** 32;
const LISTINGS_KEPT = 4;

/**
 * What moves while it is listed would be met twice or never by its place in the server's lists: so the ids of a listing are
 * read when it begins, some dozen bytes each, and its pages are read by them.
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

  /** The ids of deliveries in these states. Either of `pending` and `retrying` includes what waits for its first attempt. */
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
    const shelves: { readonly state: EntryState; readonly ids: readonly Listed[] }[] = [];
    for (const shelf of this.#shelvesOf(lane, states)) {
      shelves.push({ state: shelf.state, ids: await idsOn(shelf) });
    }
    return AS_TOLD.flatMap((state) => shelves.filter((each) => each.state === state)).flatMap(
      ({ ids }) => ids,
    );
  }

  #shelvesOf(lane: LaneId, states: readonly DeliveryState[]): readonly Shelf[] {
    const entryStates = new Set(states.flatMap((state) => WHERE[state]));
    const series = this.#lanes.series(lane);
    const shelves = IN_ORDER.filter((state) => entryStates.has(state)).map((state) => ({
      lane,
      series,
      state,
      isDead: false,
    }));
    if (!states.includes('dead')) return shelves;
    return [{ lane, series: this.#lanes.deadSeries(lane), state: 'waiting', isDead: true }, ...shelves];
  }
}

const WHERE: Readonly<Record<DeliveryState, readonly EntryState[]>> = {
  pending: ['waiting', 'delayed'],
  retrying: ['waiting', 'delayed'],
  sending: ['active'],
  delivered: ['completed'],
  dead: ['failed'],
};

/** The order in which states are read, against the way of an entry: one that moves on during the reading is met twice rather than missed. */
const IN_ORDER: readonly EntryState[] = ['failed', 'completed', 'delayed', 'waiting', 'active'];

/** The order of the result. A delivery that waits for another of its order key is delayed, so it comes behind that one. */
const AS_TOLD: readonly EntryState[] = ['failed', 'completed', 'active', 'waiting', 'delayed'];

/** Newest first where claims take from the other end; earliest first in the result. */
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

/** Sorts by the time of adding; entries of one millisecond by their ids, which were given out one after the other. */
async function inOrderOfAdding(listed: readonly Listed[]): Promise<readonly Listed[]> {
  const added = new Map<Listed, number>();
  for (const [series, some] of groupBySeries(listed, (each) => each.series)) {
    const times = await series.addedAt(some.map(({ id }) => id));
    for (const [index, each] of some.entries()) added.set(each, times[index] ?? 0);
  }
  const timeOf = (each: Listed): number => added.get(each) ?? 0;
  return listed.toSorted((one, other) => timeOf(one) - timeOf(other) || (one.id < other.id ? -1 : 1));
}

/** Reads the deliveries that are still there, in their order. */
async function readAll(listed: readonly Listed[]): Promise<readonly Delivery[]> {
  const entries = new Map<Listed, SeriesEntry | undefined>();
  for (const [series, there] of groupBySeries(listed, (each) => each.series)) {
    const read = await series.get(there.map(({ id }) => id));
    for (const [index, each] of there.entries()) entries.set(each, read[index]);
  }
  return listed.flatMap((each) => {
    const entry = entries.get(each);
    if (entry === undefined) return [];
    return withDamageShown(entryToDelivery(entry, { ...each.lane, isArrival: each.isDead }));
  });
}

function isMeant(
  { state, createdAt }: Delivery,
  { states, since }: { readonly states: readonly DeliveryState[]; readonly since: number },
): boolean {
  return states.includes(state) && createdAt >= since;
}
