import { randomBytes } from 'node:crypto';
import type { Lane } from '../../../queue/queue.ts';
import type { ServerLanes } from './server-lanes.ts';
import { noteOf, recordToDelivery } from './server-record.ts';

export interface ServerBurialOptions {
  readonly lanes: ServerLanes;
  /** Longer than it takes to bury one. Ms. */
  readonly lockMs: number;
  /** How long a dead letter is remembered. Ms. @default for ever */
  readonly keepMs?: number | undefined;
}

/** A server answers them in one go. */
const BURIED_AT_ONCE = 100;
/** Of what was left: the rest comes next time. */
const LEFT_AT_ONCE = 1_000;

/**
 * Makes dead letters of what was dead on arrival, which can only be added as if it waited. Until then it is one to whoever
 * looks, but it is not forgotten.
 */
export class ServerBurial {
  readonly #options: ServerBurialOptions;
  readonly #owner = randomBytes(9).toString('base64url');
  #tokens = 0;

  constructor(options: ServerBurialOptions) {
    this.#options = options;
  }

  /** As many as were added to these lanes just now, if they are few: nobody is to wait until thousands are. */
  async bury(lanes: readonly Lane[]): Promise<void> {
    await Promise.all(lanes.slice(0, BURIED_AT_ONCE).map((lane) => this.#buryFirst(lane)));
  }

  /** What an add has left, because it was many or because it was cut off. */
  async buryLeft(lane: Lane, recoverMs: number): Promise<void> {
    const series = this.#options.lanes.deadSeries(lane);
    await series.recover(recoverMs);
    const left = await series.ids('waiting', 0, LEFT_AT_ONCE - 1);
    for (let at = 0; at < left.length; at += BURIED_AT_ONCE)
      await this.bury(left.slice(at, at + BURIED_AT_ONCE).map(() => lane));
  }

  async #buryFirst(lane: Lane): Promise<void> {
    const { lanes, lockMs, keepMs } = this.#options;
    const series = lanes.deadSeries(lane);
    const token = `${this.#owner}-${this.#tokens++}`;
    const { entry } = await series.take(token, lockMs);
    if (entry === undefined) return;
    const { progress, reason = 'invalid' } = recordToDelivery(entry, { ...lane, state: 'dead' });
    await series.fail(entry.id, token, { note: noteOf({ progress }), reason, keepMs });
  }
}
