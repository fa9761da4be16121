import type { Clock } from '../clock.ts';
import type { Series, Server } from '../store/server/server.ts';
import { NO_PROGRESS, withDamageShown, type Delivery, type DeliveryState } from './delivery.ts';
import type { DropAnswer, LaneStats, Page, QueueInspection, RetryAnswer, Selection } from './inspection.ts';
import type { Lane } from './queue.ts';
import { seriesName, ServerLanes } from './server-lanes.ts';
import { ServerListing } from './server-listing.ts';
import { ServerOrder } from './server-order.ts';
import { entryId, HELD_FROM, noteOf, stateOf, toDelivery, toNewEntry } from './server-record.ts';

/** More would not be answered in time. */
const LOOKED_UP_AT_ONCE = 1_000;

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

  async stats(): Promise<readonly LaneStats[]> {
    const lanes = await this.#lanes.all();
    const stats = await Promise.all(lanes.map((lane) => this.#statsOf(lane)));
    return stats.filter(hasAny).toSorted(byName);
  }

  list(selection: Selection): Promise<Page> {
    return this.#listing.page(selection);
  }

  async get(id: string): Promise<Delivery | undefined> {
    const delivery = (await this.#find(id, await this.#lanes.all()))?.delivery;
    return delivery && withDamageShown(delivery);
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>> {
    const lanes = await this.#lanes.all();
    const states = new Map<string, DeliveryState>();
    for (let at = 0; at < ids.length; at += LOOKED_UP_AT_ONCE) {
      const some = ids.slice(at, at + LOOKED_UP_AT_ONCE);
      for (const found of await Promise.all(some.map((id) => this.#find(id, lanes))))
        if (found !== undefined) states.set(found.delivery.id, found.delivery.state);
    }
    return states;
  }

  async retry(ids: readonly string[]): Promise<readonly RetryAnswer[]> {
    const lanes = await this.#lanes.all();
    const answers: RetryAnswer[] = [];
    for (const id of ids) answers.push(await this.#retry(id, lanes));
    return answers;
  }

  async drop(ids: readonly string[]): Promise<readonly DropAnswer[]> {
    const lanes = await this.#lanes.all();
    const answers: DropAnswer[] = [];
    for (const id of ids) answers.push(await this.#drop(id, lanes));
    return answers;
  }

  async #statsOf(lane: Lane): Promise<LaneStats> {
    const series = this.#lanes.series(lane);
    const [waiting = 0, sending = 0, delayed = 0, delivered = 0, failed = 0] = await series.count([
      'waiting',
      'active',
      'delayed',
      'completed',
      'failed',
    ]);
    // Who waits for another of its order key is put off without a date.
    const [retrying = 0] = delayed === 0 ? [] : await series.count(['delayed'], HELD_FROM);
    const arrivals = await this.#lanes.deadSeries(lane).count(['waiting', 'active', 'failed']);
    const nextDueAt = await this.#nextDueAt(lane, { waiting, retrying });
    return {
      ...lane,
      pending: waiting + delayed - retrying,
      sending,
      retrying,
      delivered,
      dead: arrivals.reduce((sum, count) => sum + count, failed),
      ...(nextDueAt !== undefined && { nextDueAt }),
    };
  }

  async #nextDueAt(
    lane: Lane,
    { waiting, retrying }: { readonly waiting: number; readonly retrying: number },
  ): Promise<number | undefined> {
    const series = this.#lanes.series(lane);
    const firsts = [
      ...(waiting === 0 ? [] : await series.ids('waiting', waiting - 1, waiting - 1)),
      ...(retrying === 0 ? [] : await series.ids('delayed', 0, 0)),
    ];
    const times: number[] = [];
    for (const id of firsts) {
      const entry = await series.get(id);
      if (entry !== undefined) times.push(toDelivery(entry, { ...lane, state: 'pending' }).dueAt);
    }
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async #find(id: string, lanes: readonly Lane[]): Promise<Found | undefined> {
    for (const lane of lanes) {
      for (const series of [this.#lanes.series(lane), this.#lanes.deadSeries(lane)]) {
        const found = await findIn(series, {
          id: entryId(id),
          lane,
          isDead: series !== this.#lanes.series(lane),
        });
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  async #retry(id: string, lanes: readonly Lane[]): Promise<RetryAnswer> {
    const found = await this.#find(id, lanes);
    if (found === undefined) return 'unknown';
    const { series, delivery, isArrival } = found;
    if (delivery.state === 'delivered') return 'delivered';
    if (delivery.state !== 'dead') return 'waiting';
    if (delivery.reason === 'invalid') return 'invalid';
    if (delivery.isDamaged) return 'damaged';
    const now = Math.floor(this.#clock.now());
    const { attempts } = delivery.progress;
    await this.#order.rejoin(delivery, now);
    const progress = { ...NO_PROGRESS, attempts };
    if (isArrival) return this.#arrive({ ...delivery, dueAt: now, progress }, series);
    await series.writeNote(entryId(id), noteOf({ progress, dueAt: now }));
    return (await series.requeue(entryId(id))) ? 'retried' : 'waiting';
  }

  /** Among those that are delivered. Killed in between, it is there, and a dead letter too that can be dropped. */
  async #arrive(delivery: Delivery, from: Series): Promise<RetryAnswer> {
    const { reason: _reason, detail: _detail, settledAt: _settledAt, state: _state, ...fresh } = delivery;
    const series = seriesName(delivery);
    await this.#server.add([toNewEntry(fresh, { series, isHeld: false, now: delivery.dueAt })]);
    await from.remove(entryId(delivery.id));
    return 'retried';
  }

  async #drop(id: string, lanes: readonly Lane[]): Promise<DropAnswer> {
    const found = await this.#find(id, lanes);
    if (found === undefined) return 'unknown';
    const { series, delivery } = found;
    if (delivery.state === 'sending') return 'sending';
    const isSettled = delivery.state === 'delivered' || delivery.state === 'dead';
    const remove = (): Promise<boolean> => series.remove(entryId(id));
    const isDone = await (isSettled
      ? remove()
      : this.#order.leaving(delivery, Math.floor(this.#clock.now()), remove));
    return isDone ? 'dropped' : 'sending';
  }
}

interface Found {
  readonly series: Series;
  readonly delivery: Delivery;
  /** It was a dead letter when it came. */
  readonly isArrival: boolean;
}

async function findIn(
  series: Series,
  { id, lane, isDead }: { readonly id: string; readonly lane: Lane; readonly isDead: boolean },
): Promise<Found | undefined> {
  const entry = await series.get(id);
  const state = entry && (await series.stateOf(id));
  if (entry === undefined || state === undefined) return undefined;
  const told: DeliveryState = isDead ? 'dead' : stateOf(state, entry);
  return { series, delivery: toDelivery(entry, { ...lane, state: told }), isArrival: isDead };
}

function hasAny({ pending, sending, retrying, delivered, dead }: LaneStats): boolean {
  return pending + sending + retrying + delivered + dead > 0;
}

function byName(one: Lane, other: Lane): number {
  return compare(one.source, other.source) || compare(one.destination, other.destination);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
