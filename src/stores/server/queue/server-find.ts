import type { Delivery } from '../../../queue/delivery.ts';
import type { Series } from '../server.ts';
import type { ServerLanes } from './server-lanes.ts';
import { entryId, toDelivery } from './server-record.ts';

export interface Found {
  readonly series: Series;
  readonly delivery: Delivery;
  readonly takes: number;
  readonly isArrival: boolean;
}

/** Finds deliveries by id. If a delivery is in both series of its lane, finds the dead letter only if `areDead` is true. */
export async function findDeliveries(
  lanes: ServerLanes,
  ids: readonly string[],
  { areDead = false } = {},
): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  for (const lane of await lanes.all()) {
    for (const isArrival of [areDead, !areDead]) {
      const missing = ids.filter((id) => !found.has(id));
      if (missing.length === 0) return found;
      const series = lanes.series({ ...lane, isArrival });
      for (const entry of await series.get(missing.map(entryId))) {
        if (entry === undefined) continue;
        const delivery = toDelivery(entry, { ...lane, isArrival });
        found.set(delivery.id, { series, delivery, takes: entry.takes, isArrival });
      }
    }
  }
  return found;
}
