import type { Clock } from '../../../clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../queue/delivery.ts';
import type { DropResult, DueResult, RetryResult } from '../../../queue/inspection.ts';
import { inParts } from '../in-parts.ts';
import type { Server } from '../server.ts';
import { findDeliveries, type Found } from './server-find.ts';
import { deadSeriesName, groupBySeries, seriesName, type ServerLanes } from './server-lanes.ts';
import { entryId, inLines, noteOf, toNewEntry } from './server-record.ts';

/** Maximum deliveries to change in one step, because the bodies of all of them may be read. */
const CHANGED_AT_ONCE = 1_000;

export interface ServerChangesOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly lanes: ServerLanes;
}

/** Implements the changes of a QueueInspection, in steps of a few commands. */
export class ServerChanges {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #lanes: ServerLanes;

  constructor({ server, clock, lanes }: ServerChangesOptions) {
    this.#server = server;
    this.#clock = clock;
    this.#lanes = lanes;
  }

  retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    return inParts(ids, CHANGED_AT_ONCE, (some) => this.#retry(some));
  }

  makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    return inParts(ids, CHANGED_AT_ONCE, (some) => this.#makeDue(some));
  }

  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    return inParts(deliveries, CHANGED_AT_ONCE, (some) => this.#drop(some));
  }

  async #retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    const found = await findDeliveries(this.#lanes, ids, { areDead: true });
    const unretried = new Map(ids.map((id) => [id, unretriedResultOf(found.get(id))]));
    const dead = [...new Set(ids)].flatMap((id) =>
      unretried.get(id) === undefined ? (found.get(id) ?? []) : [],
    );
    const retried = new Set<string>();
    for (const some of groupBySeries(dead, ({ delivery }) => this.#lanes.series(delivery)).values()) {
      // Wakes the dead letters of a lane in the given order, even if they alternate between its two series, so that
      // deliveries with the same order key keep their order.
      for (const run of runsOf(some)) for (const id of await this.#wakeDead(run)) retried.add(id);
    }
    // Deletes the id from `retried`, because an id that was passed twice is retried only once.
    return ids.map((id) => unretried.get(id) ?? (retried.delete(id) ? 'retried' : 'waiting'));
  }

  /** Makes dead letters of one series wait again. Returns the ids of those that now wait. */
  async #wakeDead(dead: readonly Found[]): Promise<readonly string[]> {
    const now = Math.floor(this.#clock.now());
    const ids = dead.map(({ delivery }) => delivery.id);
    const [first] = dead;
    if (first?.isArrival === true) {
      const entries = dead.map(({ delivery }) => {
        const progress = retriedProgress(delivery);
        const arrived = { ...delivery, state: 'pending', dueAt: now, progress } as const;
        return toNewEntry(arrived, { series: seriesName(delivery), now });
      });
      // A kill between adding and removing leaves the deliveries in the series of the lane and in the one for deliveries
      // that were dead on arrival. The next retry then finds them in the latter.
      await this.#server.add(entries);
      await first.series.remove(ids.map((id) => ({ id: entryId(id) })));
      return ids;
    }
    const waking = dead.map(({ delivery, takes }) => ({
      ...inLines(delivery),
      note: noteOf({ progress: retriedProgress(delivery), takes, dueAt: now }),
    }));
    const areWoken = (await first?.series.wake('failed', waking)) ?? [];
    return ids.filter((_, index) => areWoken[index]);
  }

  /** Makes retrying deliveries due now. Each is first for all of its order keys, so only its own due time delays it. */
  async #makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    const found = await findDeliveries(this.#lanes, ids);
    const retrying = [...found.values()].filter(({ delivery }) => dueResultOf(delivery) === undefined);
    const dueAt = Math.floor(this.#clock.now());
    for (const [series, some] of groupBySeries(retrying, (each) => each.series)) {
      const waking = some.map(({ delivery: { id, progress } }) => ({
        id: entryId(id),
        note: noteOf({ progress: { ...progress, notBefore: {} }, dueAt }),
      }));
      await series.wake('delayed', waking);
    }
    return ids.map((id) => {
      const delivery = found.get(id)?.delivery;
      return delivery === undefined ? 'unknown' : (dueResultOf(delivery) ?? 'due');
    });
  }

  async #drop(wanted: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    const ids = wanted.filter((each) => typeof each === 'string');
    const found = await findDeliveries(this.#lanes, ids);
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

  /** Removes deliveries and returns the ids of the removed ones. Looks for a dead letter in both series of its lane. */
  async #dropFound(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>> {
    const dropped = new Set<string>();
    // The dead series first: after a kill during a retry, a delivery is in both series and waits in the other one.
    for (const nameOf of [deadSeriesName, seriesName]) {
      const left = deliveries.filter(({ id, state }) =>
        nameOf === deadSeriesName ? state === 'dead' : !dropped.has(id),
      );
      for (const [series, some] of groupBySeries(left, (each) => this.#server.series(nameOf(each)))) {
        const removed = await series.remove(some.map(inLines));
        for (const [index, { id }] of some.entries()) {
          if (removed[index]) dropped.add(id);
        }
      }
    }
    return dropped;
  }
}

/** Splits deliveries into runs of neighbors in the same series, in order. */
function runsOf(all: readonly Found[]): readonly (readonly Found[])[] {
  const runs: Found[][] = [];
  for (const each of all) {
    const last = runs.at(-1);
    if (last?.[0]?.series === each.series) last.push(each);
    else runs.push([each]);
  }
  return runs;
}

/** The result for a delivery that cannot be retried; undefined if it can. */
function unretriedResultOf(found: Found | undefined): Exclude<RetryResult, 'retried'> | undefined {
  if (found === undefined) return 'unknown';
  const { state, reason, isDamaged } = found.delivery;
  if (state === 'delivered') return 'delivered';
  if (state !== 'dead') return 'waiting';
  if (reason === 'invalid') return 'invalid';
  return isDamaged ? 'damaged' : undefined;
}

/** The result for a delivery that does not wait for another round; undefined if it does. */
function dueResultOf({ state, isDamaged }: Delivery): DueResult | undefined {
  if (isDamaged) return 'dead';
  if (state === 'retrying') return undefined;
  return state === 'pending' ? 'due' : state;
}

function retriedProgress({ progress: { attempts } }: Delivery): Delivery['progress'] {
  return { ...NO_PROGRESS, attempts };
}
