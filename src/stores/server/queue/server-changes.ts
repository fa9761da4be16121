import type { Clock } from '../../../clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../queue/delivery.ts';
import type { DropResult, DueResult, RetryResult } from '../../../queue/inspection.ts';
import type { Series, Server } from '../server.ts';
import { findDeliveries, type Found } from './server-find.ts';
import { groupBySeries, seriesName, type ServerLanes } from './server-lanes.ts';
import { ServerOrder } from './server-order.ts';
import { entryId, noteOf, toNewEntry } from './server-record.ts';

/** The most deliveries in one step: their bodies are read where they are not given. */
const CHANGED_AT_ONCE = 1_000;

export interface ServerChangesOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly lanes: ServerLanes;
  /** As a ServerQueue has it. */
  readonly repairAfterMs?: number;
}

/** Changes deliveries on behalf of a person, as a QueueInspection has it: step by step, each in a few commands. */
export class ServerChanges {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #lanes: ServerLanes;
  readonly #order: ServerOrder;

  constructor({ server, clock, lanes, repairAfterMs }: ServerChangesOptions) {
    this.#server = server;
    this.#clock = clock;
    this.#lanes = lanes;
    this.#order = new ServerOrder(server, lanes, repairAfterMs);
  }

  retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    return inSteps(ids, (some) => this.#retry(some));
  }

  makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    return inSteps(ids, (some) => this.#makeDue(some));
  }

  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    return inSteps(deliveries, (some) => this.#drop(some));
  }

  async #retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    const found = await findDeliveries(this.#lanes, ids, { areDead: true, areChanged: true });
    const unretried = new Map(ids.map((id) => [id, unretriedResultOf(found.get(id))]));
    const dead = [...new Set(ids)].flatMap((id) =>
      unretried.get(id) === undefined ? (found.get(id) ?? []) : [],
    );
    const now = Math.floor(this.#clock.now());
    // All at once, in the order of the ids: behind what waits in their order keys, each comes in its turn.
    const areRetried = await this.#order.rejoining(
      dead.map(({ delivery }) => delivery),
      now,
      () => this.#wakeDead(dead, now),
    );
    const retried = new Set(dead.filter((_, index) => areRetried[index]).map(({ delivery }) => delivery.id));
    // An id that is given twice is retried once.
    return ids.map((id) => unretried.get(id) ?? (retried.delete(id) ? 'retried' : 'waiting'));
  }

  /** Returns for each whether it waits now. */
  async #wakeDead(dead: readonly Found[], now: number): Promise<readonly boolean[]> {
    const woken = new Set<Found>();
    for (const [series, some] of groupBySeries(dead, (each) => each.series)) {
      const areWoken =
        some[0]?.isArrival === true
          ? await this.#arrive(series, some, now)
          : await series.wake(
              'failed',
              some.map(({ delivery, takes }) => ({
                id: entryId(delivery.id),
                note: noteOf({ progress: retriedProgress(delivery), takes, dueAt: now }),
              })),
            );
      for (const [index, each] of some.entries()) {
        if (areWoken[index]) woken.add(each);
      }
    }
    return dead.map((each) => woken.has(each));
  }

  /** Adds dead letters to the entries that are delivered. After a kill in between they are there twice, and are found dead when they are retried again. */
  async #arrive(from: Series, dead: readonly Found[], now: number): Promise<readonly true[]> {
    await this.#server.add(
      dead.map(({ delivery }) => {
        const arrived = {
          ...delivery,
          state: 'pending',
          dueAt: now,
          progress: retriedProgress(delivery),
        } as const;
        return toNewEntry(arrived, { series: seriesName(delivery), isHeld: false, now });
      }),
    );
    await from.remove(dead.map(({ delivery }) => entryId(delivery.id)));
    return dead.map(() => true);
  }

  /** Makes retried deliveries due. Each is first in its order keys, so only its own time holds it back. */
  async #makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    const found = await findDeliveries(this.#lanes, ids, { areChanged: true });
    const retrying = [...found.values()].filter(({ delivery }) => dueResultOf(delivery) === undefined);
    const dueAt = Math.floor(this.#clock.now());
    for (const [series, some] of groupBySeries(retrying, (each) => each.series)) {
      await series.wake(
        'delayed',
        some.map(({ delivery: { id, progress } }) => ({
          id: entryId(id),
          note: noteOf({ progress: { ...progress, notBefore: {} }, dueAt }),
        })),
      );
    }
    return ids.map((id) => {
      const delivery = found.get(id)?.delivery;
      return delivery === undefined ? 'unknown' : (dueResultOf(delivery) ?? 'due');
    });
  }

  async #drop(wanted: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    const found = await findDeliveries(
      this.#lanes,
      wanted.filter((each) => typeof each === 'string'),
      { areChanged: true },
    );
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
    // First where it is dead only: one that is there twice waits elsewhere, after a kill between the steps of its retry.
    for (const areDead of [true, false]) {
      const left = deliveries.filter(({ id, state }) => (areDead ? state === 'dead' : !dropped.has(id)));
      for (const [series, some] of this.#lanes.bySeries(left, areDead)) {
        const removed = await (areDead ? removeFrom(series, some) : this.#remove(series, some));
        for (const [index, { id }] of some.entries()) {
          if (removed[index]) dropped.add(id);
        }
      }
    }
    return dropped;
  }

  #remove(series: Series, deliveries: readonly Delivery[]): Promise<readonly boolean[]> {
    return this.#order.removing(deliveries, Math.floor(this.#clock.now()), () =>
      removeFrom(series, deliveries),
    );
  }
}

function removeFrom(series: Series, deliveries: readonly Delivery[]): Promise<readonly boolean[]> {
  return series.remove(deliveries.map(({ id }) => entryId(id)));
}

async function inSteps<T, R>(
  all: readonly T[],
  act: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += CHANGED_AT_ONCE) {
    results.push(...(await act(all.slice(at, at + CHANGED_AT_ONCE))));
  }
  return results;
}

/** Why it cannot be delivered again. Undefined: it can. */
function unretriedResultOf(found: Found | undefined): Exclude<RetryResult, 'retried'> | undefined {
  if (found === undefined) return 'unknown';
  const { state, reason, isDamaged } = found.delivery;
  if (state === 'delivered') return 'delivered';
  if (state !== 'dead') return 'waiting';
  if (reason === 'invalid') return 'invalid';
  return isDamaged ? 'damaged' : undefined;
}

/** Undefined: it waits for another round. */
function dueResultOf({ state, isDamaged }: Delivery): DueResult | undefined {
  if (isDamaged) return 'dead';
  if (state === 'retrying') return undefined;
  return state === 'pending' ? 'due' : state;
}

function retriedProgress({ progress: { attempts } }: Delivery): Delivery['progress'] {
  return { ...NO_PROGRESS, attempts };
}
