import { NO_PROGRESS, type Delivery } from '../../../queue/delivery.ts';
import {
  blockedDueResult,
  blockedRetryResult,
  type DropResult,
  type DueResult,
  type RetryResult,
} from '../../../queue/inspection.ts';
import { findDeliveries, type Found } from './server-find.ts';
import { bySeries, type ServerLanes } from './server-lanes.ts';
import { entryId, inLines, noteOf, toNewEntry } from './server-record.ts';

export async function retryEntries(
  lanes: ServerLanes,
  ids: readonly string[],
  now: number,
): Promise<readonly RetryResult[]> {
  const found = await findDeliveries(lanes, ids, { areDead: true });
  const dead = [...new Set(ids)]
    .flatMap((id) => found.get(id) ?? [])
    .filter(({ delivery }) => blockedRetryResult(delivery) === undefined);
  const woken = await bySeries(
    dead,
    ({ delivery }) => lanes.series(delivery),
    async (_, some) => {
      const areWoken: boolean[] = [];
      // Wakes dead letters in the given order, across the two series of a lane: those with one order key must keep it.
      for (const run of runsOf(some)) areWoken.push(...(await wakeDead(lanes, run, now)));
      return areWoken;
    },
  );
  const retried = new Set(dead.filter((each) => woken.get(each)).map(({ delivery }) => delivery.id));
  return ids.map((id) => {
    const delivery = found.get(id)?.delivery;
    if (delivery === undefined) return 'unknown';
    // Deletes the id from `retried`, because an id that was passed twice is retried only once.
    return blockedRetryResult(delivery) ?? (retried.delete(id) ? 'retried' : 'waiting');
  });
}

/** Splits a list into runs of neighbors that are in the same series. */
function runsOf(all: readonly Found[]): readonly (readonly Found[])[] {
  const runs: Found[][] = [];
  for (const each of all) {
    const last = runs.at(-1);
    if (last?.[0]?.series === each.series) last.push(each);
    else runs.push([each]);
  }
  return runs;
}

/** Makes dead letters of one series wait again. Returns whether each of them now waits. */
async function wakeDead(
  lanes: ServerLanes,
  dead: readonly Found[],
  now: number,
): Promise<readonly boolean[]> {
  const [first] = dead;
  if (first === undefined) return [];
  const retried = dead.map(({ delivery, takes }) => {
    const progress = { ...NO_PROGRESS, attempts: delivery.progress.attempts };
    return { delivery: { ...delivery, state: 'pending', dueAt: now, progress } as const, takes };
  });
  if (!first.isArrival) {
    const waking = retried.map(({ delivery, takes }) => ({
      ...inLines(delivery),
      note: noteOf({ progress: delivery.progress, takes, dueAt: now }),
    }));
    return first.series.wake('failed', waking);
  }
  // If the process is killed before the removal, the deliveries are in both series, and the next retry repeats the move.
  await lanes.server.add(retried.map(({ delivery }) => toNewEntry(delivery, now)));
  await first.series.remove(retried.map(({ delivery }) => ({ id: entryId(delivery.id) })));
  return dead.map(() => true);
}

/** Makes retrying deliveries due. Only their due time delays them, because they are first for all of their order keys. */
export async function makeEntriesDue(
  lanes: ServerLanes,
  ids: readonly string[],
  dueAt: number,
): Promise<readonly DueResult[]> {
  const found = await findDeliveries(lanes, ids);
  const retrying = [...found.values()].filter(({ delivery }) => blockedDueResult(delivery) === undefined);
  await bySeries(
    retrying,
    ({ series }) => series,
    (series, some) => {
      const waking = some.map(({ delivery: { id, progress }, takes }) => ({
        id: entryId(id),
        note: noteOf({ progress: { ...progress, notBefore: {} }, takes, dueAt }),
      }));
      return series.wake('delayed', waking);
    },
  );
  return ids.map((id) => {
    const delivery = found.get(id)?.delivery;
    return delivery === undefined ? 'unknown' : (blockedDueResult(delivery) ?? 'due');
  });
}

export async function dropEntries(
  lanes: ServerLanes,
  wanted: readonly (string | Delivery)[],
): Promise<readonly DropResult[]> {
  const found = await findDeliveries(
    lanes,
    wanted.filter((each) => typeof each === 'string'),
  );
  const known = wanted.map((each) => (typeof each === 'string' ? found.get(each)?.delivery : each));
  const droppable = [...new Set(known)]
    .filter((each) => each !== undefined)
    .filter(({ state }) => state !== 'sending');
  const dropped = new Set<string>();
  // Removes arrivals first. An arrival whose retry was interrupted by a kill is in both series of its lane.
  for (const isArrival of [true, false]) {
    const left = droppable.filter(({ id, state }) => (isArrival ? state === 'dead' : !dropped.has(id)));
    const removed = await bySeries(
      left,
      ({ source, destination }) => lanes.series({ source, destination, isArrival }),
      (series, some) => series.remove(some.map(inLines)),
    );
    for (const [{ id }, isRemoved] of removed) if (isRemoved) dropped.add(id);
  }
  return known.map((each) => {
    if (each === undefined) return 'unknown';
    return dropped.has(each.id) ? 'dropped' : 'sending';
  });
}
