import { sleep, type Clock } from '../../clock.ts';
import { isSameState } from '../state-difference.ts';

/** Milliseconds between two reads of the state. */
export const READ_GAP_MS = 200;

export interface SettleOptions {
  readonly read: () => Promise<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Minimum time, in ms, that the state must stay the same. At least READ_GAP_MS. For a state that changes slowly it is
   * longer: twice the longest gap between two changes.
   */
  readonly quietMs: number;
  /** Time, in ms, after which a state that still changes is no longer read. */
  readonly timeoutMs: number;
  /** Returns for how long, in ms, the given state must stay the same if it may still become correct. @default 0 */
  readonly patienceMs?: (state: string) => number;
}

export interface SettledState {
  readonly state: string;
  /** False if the state still changed at the timeout. */
  readonly isSettled: boolean;
  /** Time from the first read of the state to its last change, in ms. */
  readonly lastChangeMs: number;
}

/** Reads the state until it stays the same, because a receiver may work after its response. */
export async function settledState(options: SettleOptions): Promise<SettledState> {
  const { read, clock, signal, quietMs, timeoutMs, patienceMs = () => 0 } = options;
  const startedAt = clock.now();
  let state = await read();
  let lastChangeMs = 0;
  let sameSince = clock.now();
  let quiet = Math.min(quietMs, timeoutMs);
  for (;;) {
    await sleep(clock, READ_GAP_MS, signal);
    signal.throwIfAborted();
    const next = await read();
    const now = clock.now();
    if (!isSameState(next, state)) {
      state = next;
      lastChangeMs = now - startedAt;
      quiet = Math.min(Math.max(quiet, 2 * (now - sameSince)), timeoutMs);
      sameSince = now;
    }
    const sameMs = now - sameSince + 1;
    const isQuiet = sameMs >= quiet;
    if (isQuiet && sameMs >= patienceMs(state)) return { state, isSettled: true, lastChangeMs };
    // Extends the timeout if the state has changed before it, so that the last change has time to settle.
    const restMs = lastChangeMs > 0 && lastChangeMs < timeoutMs ? quiet : 0;
    const isOver = now - startedAt >= Math.max(timeoutMs, 2 * READ_GAP_MS) + restMs;
    if (isOver) return { state, isSettled: isQuiet, lastChangeMs };
  }
}
