import type { Clock } from '../../../clock.ts';
import type { Lane } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../sqlite/queue/retention.ts';
import type { ServerBurial } from './server-mark-dead.ts';
import { seriesName, type ServerLanes } from './server-lanes.ts';
import type { ServerOrder } from './server-order.ts';

export interface ServerUpkeepOptions {
  readonly lanes: ServerLanes;
  readonly order: ServerOrder;
  readonly burial: ServerBurial;
  readonly clock: Clock;
  readonly retention: Partial<RetentionOptions>;
  readonly recoverMs: number;
}

const FORGET_MS = 60_000;

/** What whoever claims does for all now and then: leases that have run out, errands and dead letters that were left, what was settled long ago. */
export class ServerUpkeep {
  readonly #options: ServerUpkeepOptions;
  readonly #recoveredAt = new Map<string, number>();
  #forgotAt = -Infinity;

  constructor(options: ServerUpkeepOptions) {
    this.#options = options;
  }

  async tend(lane: Lane): Promise<void> {
    const { lanes, order, clock, recoverMs } = this.#options;
    const now = clock.now();
    const name = seriesName(lane);
    if (now >= (this.#recoveredAt.get(name) ?? -Infinity) + recoverMs) {
      this.#recoveredAt.set(name, now);
      await lanes.series(lane).recover(recoverMs);
      await order.runErrands(Math.floor(clock.now()), recoverMs);
    }
    if (now < this.#forgotAt + FORGET_MS) return;
    this.#forgotAt = now;
    // Of those too that nobody claims: what is invalid names no destination, and a source may be gone.
    await Promise.all((await lanes.all()).map((each) => this.#forget(each)));
  }

  async #forget(lane: Lane): Promise<void> {
    const { lanes, burial, clock, retention, recoverMs } = this.#options;
    await burial.buryLeft(lane, recoverMs);
    const { deliveredMs, deadMs } = retention;
    const series = lanes.series(lane);
    if (deliveredMs !== undefined) await series.forget('completed', clock.now() - deliveredMs);
    if (deadMs === undefined) return;
    await series.forget('failed', clock.now() - deadMs);
    await lanes.deadSeries(lane).forget('failed', clock.now() - deadMs);
  }
}
