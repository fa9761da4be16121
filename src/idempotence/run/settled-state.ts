import { sleep, type Clock } from '../../clock.ts';
import { isSameState } from '../state-difference.ts';

/** Between two reads that must agree. */
export const READ_GAP_MS = 200;

export interface SettleOptions {
  readonly read: () => Promise<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long the state must stay the same, at the least: twice the longest time between two changes where that is longer. At least READ_GAP_MS. */
  readonly quietMs: number;
  /** Gives up when it still changed after this. */
  readonly timeoutMs: number;
  /** How long a state must stay the same that may yet become what it should. @default none */
  readonly patienceMs?: (state: string) => number;
}

export interface SettledState {
  readonly state: string;
  /** False: it still changed when the time was over. */
  readonly isSettled: boolean;
  /** When it changed last, from the beginning. */
  readonly lastChangeMs: number;
}

/** Reads the state until it stays the same. A receiver may respond first and work later. */
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
    // What changed in time gets the time to be seen at rest.
    const restMs = lastChangeMs > 0 && lastChangeMs < timeoutMs ? quiet : 0;
    const isOver = now - startedAt >= Math.max(timeoutMs, 2 * READ_GAP_MS) + restMs;
    if (isOver) return { state, isSettled: isQuiet, lastChangeMs };
  }
}
