import type { Clock } from '../../../clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../queue/delivery.ts';
import type { DropResult, DueResult, RetryResult } from '../../../queue/inspection.ts';
import type { Server } from '../server.ts';
import { findDeliveries, type Found } from './server-find.ts';
import { deadSeriesName, groupBySeries, seriesName, type ServerLanes } from './server-lanes.ts';
import { entryId, inLines, noteOf, toNewEntry } from './server-record.ts';

/** The most deliveries in one step: their bodies are read where they are not given. */
const CHANGED_AT_ONCE = 1_000;

export interface ServerChangesOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly lanes: ServerLanes;
}

/** Changes deliveries on behalf of a person, as a QueueInspection has it: step by step, each in a few commands. */
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
    return inSteps(ids, (some) => this.#retry(some));
  }

  makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    return inSteps(ids, (some) => this.#makeDue(some));
  }

  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    return inSteps(deliveries, (some) => this.#drop(some));
  }

  async #retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    const found = await findDeliveries(this.#lanes, ids, { areDead: true });
    const unretried = new Map(ids.map((id) => [id, unretriedResultOf(found.get(id))]));
    const dead = [...new Set(ids)].flatMap((id) =>
      unretried.get(id) === undefined ? (found.get(id) ?? []) : [],
    );
    const retried = new Set<string>();
    for (const some of groupBySeries(dead, ({ delivery }) => this.#lanes.series(delivery)).values()) {
      // Behind what waits in their order keys each comes in its turn: those from either series, too.
      for (const run of runsOf(some)) for (const id of await this.#wakeDead(run)) retried.add(id);
    }
    // An id that is given twice is retried once.
    return ids.map((id) => unretried.get(id) ?? (retried.delete(id) ? 'retried' : 'waiting'));
  }

  /** Has dead letters of one series wait. Returns the ids of those that do now. */
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
      // After a kill in between they are there twice, and are found dead when they are retried again.
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

  /** Makes retried deliveries due. Each is first in its order keys, so only its own time holds it back. */
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

  /** Returns the ids of those that it has removed. A dead letter lies in either series of its lane. */
  async #dropFound(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>> {
    const dropped = new Set<string>();
    // First where it is dead only: one that is there twice waits elsewhere, after a kill between the steps of its retry.
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

/** Parts of one series each, in their order. */
function runsOf(all: readonly Found[]): readonly (readonly Found[])[] {
  const runs: Found[][] = [];
  for (const each of all) {
    const last = runs.at(-1);
    if (last?.[0]?.series === each.series) last.push(each);
    else runs.push([each]);
  }
  return runs;
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
