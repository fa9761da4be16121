import type { Clock } from '../../../clock.ts';
import type { LaneId } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import { inParts } from '../in-parts.ts';
import { seriesName, type ServerLanes } from './server-lanes.ts';
import { toDelivery } from './server-record.ts';

interface ServerMaintenanceOptions {
  readonly lanes: ServerLanes;
  readonly clock: Clock;
  readonly retention: Partial<RetentionOptions>;
  readonly recoverMs: number;
}

const FORGET_MS = 60_000;
/** Maximum dead letters per lane to examine in one run of the maintenance. The next run continues. */
const EXAMINED_AT_ONCE = 1_000;
/** Maximum entries to read at once, because the server sends their bodies too, which need memory. */
const READ_AT_ONCE = 100;

/** Clean-up that each claiming process repeats: ends expired leases, and removes deliveries that were settled long ago. */
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
    // Cleans also lanes that no process claims from: an invalid message has no destination, a source can be removed.
    const areMore = await Promise.all((await lanes.all()).map((each) => this.#forget(each, now)));
    // Continues at the next claim, because at one run a minute, it could take hours to remove the deliveries of one minute.
    if (areMore.includes(true)) this.#forgotAt = -Infinity;
  }

  /** Removes some of the old deliveries of a lane. Returns whether more may be left. */
  async #forget(lane: LaneId, now: number): Promise<boolean> {
    const { lanes, retention } = this.#options;
    const { deliveredMs, deadMs } = retention;
    const series = lanes.series(lane);
    const areMore = await Promise.all([
      deliveredMs !== undefined && series.forget('completed', now - deliveredMs),
      deadMs !== undefined && series.forget('failed', now - deadMs),
      deadMs !== undefined && forgetArrivals(lanes, lane, now - deadMs),
    ]);
    return areMore.includes(true);
  }
}

/** Removes some old dead letters whose entries wait, as BullMQ adds no failed ones. Returns whether more may be left. */
async function forgetArrivals(lanes: ServerLanes, lane: LaneId, before: number): Promise<boolean> {
  const arrivals = { ...lane, isArrival: true };
  const series = lanes.series(arrivals);
  const oldest = await series.ids('waiting', -EXAMINED_AT_ONCE, -1);
  const removed = await inParts(oldest, READ_AT_ONCE, async (ids) => {
    const old = (await series.get(ids))
      .filter((entry) => entry !== undefined)
      .filter((entry) => (toDelivery(entry, arrivals).settledAt ?? entry.addedAt) <= before);
    return series.remove(old.map(({ id }) => ({ id })));
  });
  return removed.length > 0;
}
