/** How often a batch is sent before its messages are rejected. Contract, Batching client. */
const MAX_ATTEMPTS = 10;

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** Longer than this no process keeps a batch in memory for a response's `Retry-After`. */
const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/** The longest that the waits between all attempts of a batch take, without a `Retry-After`. */
export const LONGEST_RETRIES_MS = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** index),
).reduce((sum, ms) => sum + ms, 0);

export interface RetrySituation {
  /** Attempts made so far. */
  readonly attempts: number;
  readonly now: number;
  /** No attempt starts after it. Ms since the epoch. */
  readonly endAt: number;
  /** A lower bound that the response asked for. */
  readonly retryAfterMs?: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * How long to wait before the next attempt; undefined when there is none. Doubling, half of it random, so that clients
 * that failed together do not come back together.
 */
export function nextWaitMs({
  attempts,
  now,
  endAt,
  retryAfterMs = 0,
  random,
}: RetrySituation): number | undefined {
  if (attempts >= MAX_ATTEMPTS || now >= endAt) return undefined;
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1));
  const asked = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
  return Math.min(Math.max(full / 2 + (full / 2) * random, asked), endAt - now);
}
