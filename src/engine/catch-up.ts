import type { LaneId } from '../queue/queue.ts';
import type { RoundContext } from './round/round.ts';

/** Minimum milliseconds between two catch-ups of a lane, because a flapping destination comes back often. */
const PAUSE_MS = 5_000;

/** Makes the waiting deliveries of a lane due. Calls `goesOn` after each step, and stops if it returns false. */
export type MakeDue = (lane: LaneId, goesOn: () => boolean) => Promise<void>;

interface CatchUpParts extends Pick<RoundContext, 'clock' | 'stopping' | 'onEvent'> {
  readonly makeDue?: MakeDue | undefined;
  readonly lane: LaneId;
  /** Called when deliveries of the lane may have become due. */
  readonly wake: () => void;
}

/** Makes all waiting deliveries of a lane due when its destination is back after an outage. */
export class CatchUp {
  readonly #parts: CatchUpParts;
  #beganAt = -Infinity;
  isRunning = false;

  constructor(parts: CatchUpParts) {
    this.#parts = parts;
  }

  /** Makes the deliveries due. Never rejects: after a failure, each delivery waits for its own time. */
  async run(): Promise<void> {
    const { lane, clock, makeDue, stopping, onEvent, wake } = this.#parts;
    const now = clock.now();
    if (makeDue === undefined || this.isRunning || now < this.#beganAt + PAUSE_MS) return;
    this.isRunning = true;
    this.#beganAt = now;
    const goesOn = (): boolean => {
      wake();
      return !stopping.aborted;
    };
    await makeDue(lane, goesOn).catch((error: unknown) => {
      onEvent?.({ kind: 'error', during: 'claim', error, lane });
    });
    this.isRunning = false;
    wake();
  }
}
