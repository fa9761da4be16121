import { hasDeliveries, type DeliveredAttempts, type LaneStats } from '../../../queue/inspection.ts';
import type { LaneId } from '../../../queue/queue.ts';
import { firstIds, UNSETTLED, type ServerLanes } from './server-lanes.ts';
import { HELD_UNTIL } from '../server.ts';
import { toDelivery } from './server-record.ts';

/** Counts the deliveries of each lane by state. Skips empty lanes, and sorts lanes by name. */
export async function serverStats(lanes: ServerLanes): Promise<readonly LaneStats[]> {
  const all = await lanes.all();
  const stats = await Promise.all(all.map((lane) => statsOf(lane, lanes)));
  return stats.filter(hasDeliveries).toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

function nameOf({ source, destination }: LaneId): string {
  return `${source}\0${destination}`;
}

async function statsOf(lane: LaneId, lanes: ServerLanes): Promise<LaneStats> {
  const series = lanes.series(lane);
  const states = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;
  const [waiting = 0, sending = 0, delayed = 0, delivered = 0, failed = 0] = await series.count(states);
  // A held delivery, which waits for another one with its order key, is pending, although its entry is delayed.
  const [retrying = 0] = delayed === 0 ? [] : await series.count(['delayed'], HELD_UNTIL);
  const [arrivals = 0] = await lanes.series({ ...lane, isArrival: true }).count(['waiting']);
  const firsts = await firstIds(series, retrying === 0 ? ['waiting'] : ['waiting', 'delayed']);
  const entries = (await series.get(firsts)).filter((entry) => entry !== undefined);
  const times = entries.map((entry) => toDelivery(entry, lane).dueAt);
  return {
    ...lane,
    pending: waiting + delayed - retrying,
    sending,
    retrying,
    delivered,
    dead: failed + arrivals,
    ...(times.length > 0 && { nextDueAt: Math.min(...times) }),
  };
}

/** The attempts of the deliveries that were delivered last, at most `limit` per lane. */
export async function lastDelivered(
  lanes: ServerLanes,
  limit: number,
): Promise<readonly DeliveredAttempts[]> {
  const attempts: DeliveredAttempts[] = [];
  for (const lane of await lanes.all()) {
    const series = lanes.series(lane);
    for (const entry of await series.get(await series.ids('completed', -limit, -1))) {
      if (entry === undefined) continue;
      attempts.push({ ...lane, attempts: toDelivery(entry, lane).progress.attempts });
    }
  }
  return attempts;
}

/** When the oldest unsettled delivery was added, in ms since the epoch. Takes constant time, however many wait. */
export async function oldestUnsettled(lanes: ServerLanes): Promise<number | undefined> {
  const all = (await lanes.all()).map(async (lane) => {
    const series = lanes.series(lane);
    return series.addedAt(await firstIds(series, UNSETTLED));
  });
  const times = (await Promise.all(all)).flat().filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
