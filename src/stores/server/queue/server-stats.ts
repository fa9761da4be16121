import { hasDeliveries, type DeliveredAttempts, type LaneStats } from '../../../queue/inspection.ts';
import type { LaneId } from '../../../queue/queue.ts';
import type { ServerLanes } from './server-lanes.ts';
import { HELD_UNTIL } from '../server.ts';
import { entryToDelivery } from './server-record.ts';

/** Counts the deliveries of each lane by state. Skips empty lanes, and sorts lanes by name. */
export async function serverStats(lanes: ServerLanes): Promise<readonly LaneStats[]> {
  const all = await lanes.all();
  const stats = await Promise.all(all.map((lane) => statsOf(lane, lanes)));
  return stats.filter(hasDeliveries).toSorted(byName);
}

async function statsOf(lane: LaneId, lanes: ServerLanes): Promise<LaneStats> {
  const series = lanes.series(lane);
  const [waiting = 0, sending = 0, delayed = 0, delivered = 0, failed = 0] = await series.count([
    'waiting',
    'active',
    'delayed',
    'completed',
    'failed',
  ]);
  // Does not count held deliveries as retrying: they wait for another delivery with their order key, until HELD_UNTIL.
  const [retrying = 0] = delayed === 0 ? [] : await series.count(['delayed'], HELD_UNTIL);
  const [arrivals = 0] = await lanes.deadSeries(lane).count(['waiting']);
  const firsts = [
    ...(waiting === 0 ? [] : await series.ids('waiting', -1, -1)),
    ...(retrying === 0 ? [] : await series.ids('delayed', 0, 0)),
  ];
  const entries = (await series.get(firsts)).filter((entry) => entry !== undefined);
  const times = entries.map((entry) => entryToDelivery(entry, lane).dueAt);
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

/** The attempts of the last delivered deliveries of each lane. */
export async function lastDelivered(
  lanes: ServerLanes,
  limit: number,
): Promise<readonly DeliveredAttempts[]> {
  const attempts: DeliveredAttempts[] = [];
  for (const lane of await lanes.all()) {
    const series = lanes.series(lane);
    for (const entry of await series.get(await series.ids('completed', -limit, -1))) {
      if (entry === undefined) continue;
      attempts.push({ ...lane, attempts: entryToDelivery(entry, lane).progress.attempts });
    }
  }
  return attempts;
}

/**
 * When the oldest unsettled delivery was added, in ms since the epoch. Reads only the first entry of each
 * unsettled state.
 */
export async function oldestUnsettled(lanes: ServerLanes): Promise<number | undefined> {
  const all = await lanes.all();
  const times = await Promise.all(
    all.map(async (lane) => {
      const series = lanes.series(lane);
      const firsts = await Promise.all([
        series.ids('waiting', -1, -1),
        series.ids('active', -1, -1),
        series.ids('delayed', 0, 0),
      ]);
      return (await series.get(firsts.flat())).flatMap((entry) => entry?.addedAt ?? []);
    }),
  );
  const known = times.flat();
  return known.length === 0 ? undefined : Math.min(...known);
}

function byName(one: LaneId, other: LaneId): number {
  return compare(one.source, other.source) || compare(one.destination, other.destination);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
