import type { AttemptRecord } from '../../attempt-record.ts';
import type { Progress } from '../../queue/delivery.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { Clock } from '../../clock.ts';
import type { RoundsSoFar } from './schedule.ts';
import type { Webhook } from '../webhook.ts';

/** The rounds so far, for the schedule. The window is as long as it is by time that has passed: what a clock that was set skipped does not count. */
export function roundsSoFar(
  { rounds, firstAttemptAt }: Progress,
  { now, clock, retryForMs }: { readonly now: number; readonly clock: Clock; readonly retryForMs: number },
): RoundsSoFar {
  const first = firstAttemptAt ?? now;
  return { now, rounds: Math.max(1, rounds), firstAttemptAt: first + clock.skipped(first), retryForMs };
}

/** The progress after an attempt: with its record, and what it says about asking that webhook again. */
export function withAttempt(
  progress: Progress,
  { key }: Webhook,
  { result, record, notBefore }: { result: AttemptResult; record: AttemptRecord; notBefore: number },
): Progress {
  return {
    ...progress,
    attempts: [...progress.attempts, record],
    rejectedBy: result.result === 'rejected' ? [...progress.rejectedBy, key] : progress.rejectedBy,
    notBefore: withWait(progress.notBefore, key, notBefore),
  };
}

/** A later response without `Retry-After` takes an earlier one's wait back: 0 is no wait. */
function withWait(waits: Progress['notBefore'], key: string, until: number): Progress['notBefore'] {
  if (until > 0) return { ...waits, [key]: until };
  if (waits[key] === undefined) return waits;
  const { [key]: _over, ...others } = waits;
  return others;
}

/** The webhooks that have not rejected the delivery. */
export function remainingWebhooks(
  webhooks: readonly Webhook[],
  { rejectedBy }: Progress,
): readonly Webhook[] {
  return rejectedBy.length === 0 ? webhooks : webhooks.filter(({ key }) => !rejectedBy.includes(key));
}
