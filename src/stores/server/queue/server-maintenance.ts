import type { Clock } from '../../../clock.ts';
import type { Lane } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import type { ServerDeadLetters } from './server-dead-letters.ts';
import { seriesName, type ServerLanes } from './server-lanes.ts';
import type { ServerOrder } from './server-order.ts';

export interface ServerMaintenanceOptions {
  readonly lanes: ServerLanes;
  readonly order: ServerOrder;
  readonly deadLetters: ServerDeadLetters;
  readonly clock: Clock;
  readonly retention: Partial<RetentionOptions>;
  readonly recoverMs: number;
}

const FORGET_MS = 60_000;

/**
 * The recurring clean-up that every claiming process does for all: it ends leases that have run out, runs repairs and marks dead
 * letters that a killed process left, and forgets what was settled long ago.
 */
export class ServerMaintenance {
  readonly #options: ServerMaintenanceOptions;
  readonly #recoveredAt = new Map<string, number>();
  #forgotAt = -Infinity;

  constructor(options: ServerMaintenanceOptions) {
    this.#options = options;
  }

  async maintain(lane: Lane): Promise<void> {
    const { lanes, order, clock, recoverMs } = this.#options;
    const now = clock.now();
    const name = seriesName(lane);
    if (now >= (this.#recoveredAt.get(name) ?? -Infinity) + recoverMs) {
      this.#recoveredAt.set(name, now);
      await lanes.series(lane).recover(recoverMs);
      await order.runRepairs(Math.floor(clock.now()), recoverMs);
    }
    if (now < this.#forgotAt + FORGET_MS) return;
    this.#forgotAt = now;
    // Unclaimed lanes too: an invalid message names no destination, and a source may be gone.
    await Promise.all((await lanes.all()).map((each) => this.#forget(each)));
  }

  async #forget(lane: Lane): Promise<void> {
    const { lanes, deadLetters, clock, retention, recoverMs } = this.#options;
    await deadLetters.markLeft(lane, recoverMs);
    const { deliveredMs, deadMs } = retention;
    const series = lanes.series(lane);
    if (deliveredMs !== undefined) await series.forget('completed', clock.now() - deliveredMs);
    if (deadMs === undefined) return;
    await series.forget('failed', clock.now() - deadMs);
    await lanes.deadSeries(lane).forget('failed', clock.now() - deadMs);
  }
}
