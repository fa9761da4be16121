import { backoffMs, type Backoff } from '../../clock.ts';

/** The waits between the rounds of a delivery (contract, Delivery). */
export const ROUND_BACKOFF: Backoff = { firstMs: 1_000, longestMs: 10 * 60_000 };
/** Kept free before the window's end, so that a round planned for it still begins within it. */
const SLACK_MS = 50;

export interface RoundsSoFar {
  readonly now: number;
  /** The start of the retry window. */
  readonly firstAttemptAt: number;
  readonly retryForMs: number;
  /** Rounds begun, at least 1. */
  readonly rounds: number;
}

export interface NextRound extends RoundsSoFar {
  /** For each remaining webhook, until when it asked to be left alone; 0 if it did not. */
  readonly notBefore: readonly number[];
  /** From the start of a round to the start of its last attempt, at most. */
  readonly roundMs: number;
  /** At least 0, less than 1. */
  readonly random: number;
}

/**
 * When the next round begins, or undefined when the window leaves no time for it.
 *
 * Exponential with equal jitter, and not before the first webhook is open again. The last round is moved so that all of
 * it, else its first attempt, begins within the window; never closer than the shortest wait.
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

/** No attempt starts after it. */
export function windowEndOf({ firstAttemptAt, retryForMs }: RoundsSoFar): number {
  return firstAttemptAt + retryForMs;
}

/** Whether the window ended while the process was stopped during a round: the rest of the window went unused. */
export function isLateRoundOwed(
  soFar: RoundsSoFar,
  { beganAt, uninterruptedSince }: { readonly beganAt: number; readonly uninterruptedSince: number },
): boolean {
  const windowEnd = windowEndOf(soFar);
  return beganAt < windowEnd && windowEnd < uninterruptedSince;
}

/** Whether the round that begins now is the last one, however short the wait after it. */
export function isLastRound(soFar: RoundsSoFar): boolean {
  return soFar.now + shortestWaitMs(soFar.rounds) > windowEndOf(soFar) - SLACK_MS;
}

function shortestWaitMs(rounds: number): number {
  return backoffMs(ROUND_BACKOFF, rounds, 0);
}
