import type { Delivery } from '../../../queue/delivery.ts';
import type { Lane } from '../../../queue/queue.ts';
import type { Series } from '../server.ts';
import type { ServerLanes } from './server-lanes.ts';
import { entryId, entryToDelivery } from './server-record.ts';

export interface Found {
  readonly series: Series;
  readonly delivery: Delivery;
  /** How often its entry was taken. */
  readonly takes: number;
  /** Whether it was a dead letter when it came. */
  readonly isArrival: boolean;
}

/**
 * The deliveries that are there, by id. Of one that is there twice, the dead letter is found if `areDead`; `areChanged`: they are changed
 * next, by a user who may.
 */
export async function findDeliveries(
  lanes: ServerLanes,
  ids: readonly string[],
  { areDead = false, areChanged = false } = {},
): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  for (const lane of await lanes.all()) {
    for (const isArrival of [areDead, !areDead]) {
      const missing = ids.filter((id) => !found.has(id));
      if (missing.length === 0) return found;
      const series = isArrival ? lanes.deadSeries(lane) : lanes.series(lane);
      for (const each of await findIn({ series, lane, isArrival, areChanged }, missing)) {
        found.set(each.delivery.id, each);
      }
    }
  }
  return found;
}

async function findIn(
  {
    series,
    lane,
    isArrival,
    areChanged,
  }: Pick<Found, 'series' | 'isArrival'> & { readonly lane: Lane; readonly areChanged: boolean },
  ids: readonly string[],
): Promise<readonly Found[]> {
  const entryIds = ids.map(entryId);
  const entries = await (areChanged ? series.getToChange(entryIds) : series.get(entryIds));
  return entries.flatMap((entry) => {
    if (entry === undefined) return [];
    return {
      series,
      delivery: entryToDelivery(entry, { ...lane, isArrival }),
      takes: entry.takes,
      isArrival,
    };
  });
}
