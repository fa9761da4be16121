import { backoffMs, type Backoff } from '../clock.ts';

/** Maximum number of attempts to send a batch. After the last one, its messages are rejected. */
const MAX_ATTEMPTS = 10;

/** The waits between the attempts of a batch. */
const BATCH_BACKOFF: Backoff = { firstMs: 500, longestMs: 30_000 };
/** Longest wait for a `Retry-After`, in milliseconds: limited, because the batch stays in memory meanwhile. */
const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/** Returns the longest time in milliseconds that all retries of a batch can wait, without a `Retry-After`. */
export function longestRetriesMs(): number {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) =>
    backoffMs(BATCH_BACKOFF, index + 1, 1),
  );
  return waits.reduce((sum, ms) => sum + ms, 0);
}

export interface RetrySituation {
  /** Number of attempts made so far to send the batch. */
  readonly attempts: number;
  readonly now: number;
  /** The time after which no attempt for the batch starts. Ms since the epoch. */
  readonly endAt: number;
  /** The shortest wait that the response asked for (`Retry-After`), in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Random number from 0 to 1 for the jitter of the wait. */
  readonly random: number;
}

/** Milliseconds to wait before the next attempt. Undefined if there is no next attempt. */
export function nextWaitMs({
  attempts,
  now,
  endAt,
  retryAfterMs = 0,
  random,
}: RetrySituation): number | undefined {
  if (attempts >= MAX_ATTEMPTS || now >= endAt) return undefined;
  const asked = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
  return Math.min(Math.max(backoffMs(BATCH_BACKOFF, attempts, random), asked), endAt - now);
}
