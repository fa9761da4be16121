import type { Clock } from '../../../clock.ts';
import type { LaneId } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import { seriesName, type ServerLanes } from './server-lanes.ts';
import type { Series, SeriesEntry } from '../server.ts';
import { entryToDelivery } from './server-record.ts';

export interface ServerMaintenanceOptions {
  readonly lanes: ServerLanes;
  readonly clock: Clock;
  readonly retention: Partial<RetentionOptions>;
  readonly recoverMs: number;
}

const FORGET_MS = 60_000;
/** Maximum dead letters of a lane to examine in one run of the maintenance. The next run continues. */
const FORGOTTEN_AT_ONCE = 1_000;
/** Maximum number of entries to read at once: the server sends their bodies too, which need memory. */
const READ_AT_ONCE = 100;

/**
 * Recurring clean-up of the whole queue, which every claiming process does: ends expired leases, and forgets deliveries
 * that were settled long ago.
 */
export class ServerMaintenance {
  readonly #options: ServerMaintenanceOptions;
  readonly #recoveredAt = new Map<string, number>();
  #forgotAt = -Infinity;

  constructor(options: ServerMaintenanceOptions) {
    this.#options = options;
  }

  async maintain(lane: LaneId): Promise<void> {
    const { lanes, clock, recoverMs } = this.#options;
    const now = clock.now();
    const name = seriesName(lane);
    if (now >= (this.#recoveredAt.get(name) ?? -Infinity) + recoverMs) {
      this.#recoveredAt.set(name, now);
      await lanes.series(lane).recover(recoverMs);
    }
    if (now < this.#forgotAt + FORGET_MS) return;
    this.#forgotAt = now;
    // Forgets in unclaimed lanes, too: an invalid message has no destination, and a source may be removed.
    const areMore = await Promise.all((await lanes.all()).map((each) => this.#forget(each)));
    // Lets the next claim continue at once. Otherwise, it could take hours to forget the deliveries of one minute.
    if (areMore.includes(true)) this.#forgotAt = -Infinity;
  }

  /** Forgets old deliveries of a lane. Returns whether more may be left. */
  async #forget(lane: LaneId): Promise<boolean> {
    const { lanes, clock, retention } = this.#options;
    const { deliveredMs, deadMs } = retention;
    const series = lanes.series(lane);
    const areDelivered =
      deliveredMs !== undefined && (await series.forget('completed', clock.now() - deliveredMs));
    if (deadMs === undefined) return areDelivered;
    const areDead = await series.forget('failed', clock.now() - deadMs);
    return (await forgetArrivals(lanes.deadSeries(lane), clock.now() - deadMs)) || areDead || areDelivered;
  }
}

/**
 * Removes old dead letters that were dead on arrival. Their entries are waiting, because BullMQ can add only
 * waiting ones. Returns whether more may be left.
 */
async function forgetArrivals(series: Series, before: number): Promise<boolean> {
  let areMore = false;
  const oldest = await series.ids('waiting', -FORGOTTEN_AT_ONCE, -1);
  for (let at = 0; at < oldest.length; at += READ_AT_ONCE) {
    const ids = oldest.slice(at, at + READ_AT_ONCE);
    const entries = await series.get(ids);
    const old = ids.filter((_, index) => settledAtOf(entries[index]) <= before);
    await series.remove(old.map((id) => ({ id })));
    areMore ||= old.length > 0;
  }
  return areMore;
}

function settledAtOf(entry: SeriesEntry | undefined): number {
  if (entry === undefined) return Infinity;
  return entryToDelivery(entry, { source: '', destination: '', isArrival: true }).settledAt ?? Infinity;
}
