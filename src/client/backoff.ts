import { backoffMs, type Backoff } from '../clock.ts';

/** How often a batch is sent before its messages are rejected. Contract, Batching client. */
const MAX_ATTEMPTS = 10;

/** The waits between the attempts of a batch. */
const BATCH_BACKOFF: Backoff = { firstMs: 500, longestMs: 30_000 };
/** Longer than this no process keeps a batch in memory for a response's `Retry-After`. */
const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/** The longest that the waits between all attempts of a batch take, without a `Retry-After`. */
export function longestRetriesMs(): number {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) =>
    backoffMs(BATCH_BACKOFF, index + 1, 1),
  );
  return waits.reduce((sum, ms) => sum + ms, 0);
}

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

/** How long to wait before the next attempt; undefined when there is none. */
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
