import { sleep, type Clock } from '../../clock.ts';
import { isSameState } from '../state-difference.ts';

/** Between two reads that must agree. */
export const READ_GAP_MS = 200;

export interface SettleOptions {
  readonly read: () => Promise<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long the state must stay the same. At least READ_GAP_MS. */
  readonly quietMs: number;
  /** Gives up after this. */
  readonly timeoutMs: number;
  /** What the state should become: until it is, or `patienceMs` are over, a state that stays the same is not taken. */
  readonly wanted?: (state: string) => boolean;
  readonly patienceMs?: number;
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
  const { read, clock, signal, quietMs, timeoutMs, wanted, patienceMs = 0 } = options;
  const startedAt = clock.now();
  let state = await read();
  let lastChangeMs = 0;
  let [sameSince, waitsUntil] = [clock.now(), startedAt + patienceMs];
  for (;;) {
    await sleep(clock, READ_GAP_MS, signal);
    signal.throwIfAborted();
    const next = await read();
    const now = clock.now();
    if (!isSameState(next, state)) {
      state = next;
      lastChangeMs = now - startedAt;
      sameSince = now;
      // What still changes is still at work.
      waitsUntil = Math.max(waitsUntil, now + patienceMs);
    }
    const isQuiet = now - sameSince >= Math.min(quietMs, timeoutMs) - 1;
    const isWanted = wanted === undefined || wanted(state) || now >= waitsUntil;
    if (isQuiet && isWanted) return { state, isSettled: true, lastChangeMs };
    const isOver = now - startedAt >= Math.max(timeoutMs, 2 * READ_GAP_MS);
    if (isOver) return { state, isSettled: isQuiet, lastChangeMs };
  }
}
