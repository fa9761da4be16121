import { randomBytes } from 'node:crypto';
import type { Lane } from '../../../queue/queue.ts';
import type { ServerLanes } from './server-lanes.ts';
import { noteOf, recordToDelivery } from './server-record.ts';

export interface ServerDeadLettersOptions {
  readonly lanes: ServerLanes;
  /** Longer than it takes to mark one dead. Ms. */
  readonly lockMs: number;
  /** How long a dead letter is remembered. Ms. @default forever */
  readonly keepMs?: number | undefined;
}

/** Commands that a server answers in one round trip. */
const MARKED_AT_ONCE = 100;
/** Marked by one maintenance; the next one continues. */
const LEFT_AT_ONCE = 1_000;

/**
 * Marks deliveries dead that were dead on arrival: BullMQ can only add them as if they waited. Until then an inspection
 * shows them as dead letters, but retention does not forget them.
 */
export class ServerDeadLetters {
  readonly #options: ServerDeadLettersOptions;
  readonly #owner = randomBytes(9).toString('base64url');
  #tokens = 0;

  constructor(options: ServerDeadLettersOptions) {
    this.#options = options;
  }

  /** Marks one delivery per given lane, at most MARKED_AT_ONCE: a caller of `add` does not wait for thousands. */
  async mark(lanes: readonly Lane[]): Promise<void> {
    await Promise.all(lanes.slice(0, MARKED_AT_ONCE).map((lane) => this.#markFirst(lane)));
  }

  /** Marks what an `add` has left, because there were many or because its process was killed. */
  async markLeft(lane: Lane, recoverMs: number): Promise<void> {
    const series = this.#options.lanes.deadSeries(lane);
    await series.recover(recoverMs);
    const left = await series.ids('waiting', 0, LEFT_AT_ONCE - 1);
    for (let at = 0; at < left.length; at += MARKED_AT_ONCE)
      await this.mark(left.slice(at, at + MARKED_AT_ONCE).map(() => lane));
  }

  async #markFirst(lane: Lane): Promise<void> {
    const { lanes, lockMs, keepMs } = this.#options;
    const series = lanes.deadSeries(lane);
    const token = `${this.#owner}-${this.#tokens++}`;
    const { entry } = await series.take(token, lockMs);
    if (entry === undefined) return;
    const { progress, reason = 'invalid' } = recordToDelivery(entry, { ...lane, state: 'dead' });
    await series.fail(entry.id, token, { note: noteOf({ progress }), reason, keepMs });
  }
}
