import { backoffMs, type Backoff } from '../../clock.ts';

/** The waits between the rounds of a delivery (contract, Delivery). */
export const ROUND_BACKOFF: Backoff = { firstMs: 1_000, longestMs: 10 * 60_000 };
/** Kept free before the end of the window, so that a round that is due then still starts within it. */
const SLACK_MS = 50;

export interface RoundsSoFar {
  readonly now: number;
  /** The start of the retry window. Milliseconds since the epoch. */
  readonly firstAttemptAt: number;
  readonly retryForMs: number;
  /** Rounds that have begun, at least 1. */
  readonly rounds: number;
}

export interface NextRound extends RoundsSoFar {
  /** For each remaining webhook, the time before which it must not be asked; 0 without such a time. Milliseconds since the epoch. */
  readonly notBefore: readonly number[];
  /** Longest time from the start of a round to the start of its last attempt, in milliseconds. */
  readonly roundMs: number;
  /** At least 0 and less than 1. */
  readonly random: number;
}

/**
 * Returns when the next round begins, or undefined if the window leaves no time for it.
 *
 * The wait is exponential with equal jitter, and lasts at least until the first webhook may be asked again. The last round moves
 * forward so that all its attempts, or at least the first, start within the window, but never below the shortest wait.
 */
export function nextRoundAt(next: NextRound): number | undefined {
  const { now, rounds, roundMs, random } = next;
  const windowEnd = windowEndOf(next);
  const lastWhole = windowEnd - SLACK_MS - roundMs;
  const askedFor = Math.min(...next.notBefore);
  const openAt = askedFor >= windowEnd ? lastWhole : askedFor;
  const earliest = Math.max(now + shortestWaitMs(rounds), openAt);
  const wanted = Math.max(now + backoffMs(ROUND_BACKOFF, rounds, random), openAt);
  if (wanted <= lastWhole) return wanted;
  if (lastWhole >= earliest) return lastWhole;
  const last = Math.min(wanted, windowEnd - SLACK_MS);
  return last >= earliest ? last : undefined;
}

/** Returns the time after which no attempt starts. */
export function windowEndOf({ firstAttemptAt, retryForMs }: RoundsSoFar): number {
  return firstAttemptAt + retryForMs;
}

/** Whether the window ended during a round while the process was stopped, so that the rest of the window went unused. */
export function isLateRoundOwed(soFar: RoundsSoFar, beganAt: number, uninterruptedSince: number): boolean {
  const windowEnd = windowEndOf(soFar);
  return beganAt < windowEnd && windowEnd < uninterruptedSince;
}

/** Whether the round that begins now is the last one, even with the shortest wait after it. */
export function isLastRound(soFar: RoundsSoFar): boolean {
  return soFar.now + shortestWaitMs(soFar.rounds) > windowEndOf(soFar) - SLACK_MS;
}

function shortestWaitMs(rounds: number): number {
  return backoffMs(ROUND_BACKOFF, rounds, 0);
}
