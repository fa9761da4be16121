import type { MakeDue } from './catch-up.ts';
import type { RoundContext } from './round/round.ts';

/** Context that all lanes of an engine share. */
export interface LaneContext extends Omit<RoundContext, 'destination' | 'health'> {
  readonly random: () => number;
  /** Milliseconds between two polls for deliveries that other processes added. Undefined if there are no other processes. */
  readonly pollMs?: number;
  readonly makeDue?: MakeDue | undefined;
  /** Whether the queue announces deliveries that other processes add (`wakeSoon`). */
  readonly isWatched: boolean;
  /** Called when the lane has no delivery that waits or is in flight. */
  readonly onQuiet: () => void;
}
