import type { Clock } from '../clock.ts';
import type { Lane } from './queue.ts';
import type { RetentionOptions } from './retention.ts';
import { seriesName, type ServerLanes } from './server-lanes.ts';
import type { ServerOrder } from './server-order.ts';

export interface ServerUpkeepOptions {
  readonly lanes: ServerLanes;
  readonly order: ServerOrder;
  readonly clock: Clock;
  readonly retention: Partial<RetentionOptions>;
  readonly recoverMs: number;
}

const FORGET_MS = 60_000;

/** What whoever claims does for all now and then: leases that have run out, errands that were left, what was settled long ago. */
export class ServerUpkeep {
  readonly #options: ServerUpkeepOptions;
  readonly #recoveredAt = new Map<string, number>();
  readonly #forgotAt = new Map<string, number>();

  constructor(options: ServerUpkeepOptions) {
    this.#options = options;
  }

  async tend(lane: Lane): Promise<void> {
    const { lanes, order, clock, recoverMs } = this.#options;
    const name = seriesName(lane);
    if (this.#isTime(this.#recoveredAt, name, recoverMs)) {
      await lanes.series(lane).recover(recoverMs);
      await order.runErrands(Math.floor(clock.now()), recoverMs);
    }
    if (this.#isTime(this.#forgotAt, name, FORGET_MS)) await this.#forget(lane);
  }

  async #forget(lane: Lane): Promise<void> {
    const { lanes, clock, retention } = this.#options;
    const { deliveredMs, deadMs } = retention;
    const series = lanes.series(lane);
    if (deliveredMs !== undefined) await series.forget('completed', clock.now() - deliveredMs);
    if (deadMs === undefined) return;
    await series.forget('failed', clock.now() - deadMs);
    await lanes.deadSeries(lane).forget('failed', clock.now() - deadMs);
  }

  #isTime(times: Map<string, number>, name: string, everyMs: number): boolean {
    const now = this.#options.clock.now();
    if (now < (times.get(name) ?? -Infinity) + everyMs) return false;
    times.set(name, now);
    return true;
  }
}
