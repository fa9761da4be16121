import { backoffMs, type Backoff } from '../../clock.ts';

/** The waits between the rounds of a delivery. */
export const ROUND_BACKOFF: Backoff = { firstMs: 1_000, longestMs: 10 * 60_000 };
/**
 * Minimum number of milliseconds from the planned start of a round to the end of the retry window, so that a late timer
 * still starts the round in time.
 */
const SLACK_MS = 50;

export interface RoundsSoFar {
  readonly now: number;
  /** The start of the retry window. Milliseconds since the epoch. */
  readonly firstAttemptAt: number;
  readonly retryForMs: number;
  /** Number of rounds that have begun, at least 1. */
  readonly rounds: number;
}

export interface NextRound extends RoundsSoFar {
  /** Time before which each remaining webhook must not be tried, in milliseconds since the epoch; 0 without such a time. */
  readonly notBefore: readonly number[];
  /** Longest time from the start of a round to the start of its last attempt, in milliseconds. */
  readonly roundMs: number;
  /** Random number for the jitter of the wait for the next round: at least 0, less than 1. */
  readonly random: number;
}

/**
 * Returns when the next round begins. Undefined if the retry window leaves no time for it.
 *
 * The wait is exponential with equal jitter, and lasts at least until the first webhook may be tried again. The last round
 * starts earlier, so that all its attempts, or at least the first, start within the window; but never after less than the
 * shortest wait.
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

/** Returns the end of the retry window: the time after which no attempt starts. */
export function windowEndOf({ firstAttemptAt, retryForMs }: RoundsSoFar): number {
  return firstAttemptAt + retryForMs;
}

/**
 * Whether a delivery gets one more round because the process was stopped during its last round until the retry window had
 * ended.
 */
export function isLateRoundOwed(soFar: RoundsSoFar, beganAt: number, uninterruptedSince: number): boolean {
  const windowEnd = windowEndOf(soFar);
  return beganAt < windowEnd && windowEnd < uninterruptedSince;
}

/** Whether the round that begins now is the last: even after the shortest wait, the retry window has no time for another. */
export function isLastRound(soFar: RoundsSoFar): boolean {
  return soFar.now + shortestWaitMs(soFar.rounds) > windowEndOf(soFar) - SLACK_MS;
}

function shortestWaitMs(rounds: number): number {
  return backoffMs(ROUND_BACKOFF, rounds, 0);
}
