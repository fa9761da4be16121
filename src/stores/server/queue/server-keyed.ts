import type { SeriesEntry, InLine } from '../server.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import type { Lane } from '../../../queue/queue.ts';
import { seriesName } from './server-lanes.ts';
import { deliveryId, entryId, storedOrderKeysOf } from './server-record.ts';

/** The part of a delivery that its order keys need. */
export type Keyed = Pick<Delivery, 'id' | 'source' | 'destination' | 'orderKeys'>;

export function isKeyed({ orderKeys, state }: Delivery): boolean {
  return orderKeys.length > 0 && state !== 'dead';
}

export function toKeyed({ id, source, destination, orderKeys }: Keyed): Keyed {
  return { id, source, destination, orderKeys };
}

export function keyedOf(entry: SeriesEntry, { source, destination }: Lane): Keyed {
  return { id: deliveryId(entry.id), source, destination, orderKeys: storedOrderKeysOf(entry) };
}

/** Whether an entry is not there, or is settled. */
export function isGone(entry: SeriesEntry | undefined): entry is undefined {
  return entry === undefined || entry.settledAt !== undefined;
}

export function inLine(delivery: Keyed): InLine {
  const entry = { series: seriesName(delivery), id: entryId(delivery.id) };
  return { id: delivery.id, keys: linesOf(delivery), entry };
}

export function linesOf({ source, destination, orderKeys }: Keyed): readonly string[] {
  return orderKeys.map((key) => JSON.stringify([source, destination, key]));
}
