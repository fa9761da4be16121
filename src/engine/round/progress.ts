import type { AttemptRecord } from '../../attempt-record.ts';
import type { Progress } from '../../queue/delivery.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { Clock } from '../../clock.ts';
import type { Destination } from '../destination.ts';
import type { RoundsSoFar } from './schedule.ts';
import type { Webhook } from '../webhook.ts';

/**
 * Returns the rounds of a delivery so far, for the schedule. The retry window counts elapsed time: its start moves forward
 * by the time that was skipped when the clock was changed.
 */
export function roundsSoFar(
  { rounds, firstAttemptAt }: Progress,
  { clock, destination }: { readonly clock: Clock; readonly destination: Destination },
  now: number,
): RoundsSoFar {
  const { retryForMs } = destination.delivery;
  const first = firstAttemptAt ?? now;
  return { now, rounds: Math.max(1, rounds), firstAttemptAt: first + clock.skipped(first), retryForMs };
}

/**
 * Returns the progress with the record of another attempt, and with the time before which the webhook must not be tried
 * again.
 */
export function withAttempt(
  { rounds, firstAttemptAt, attempts, rejectedBy, notBefore: waits }: Progress,
  { key }: Webhook,
  { result, record, notBefore }: { result: AttemptResult; record: AttemptRecord; notBefore: number },
): Progress {
  return {
    rounds,
    firstAttemptAt: firstAttemptAt ?? record.at,
    attempts: [...attempts, record],
    rejectedBy: result.result === 'rejected' ? [...rejectedBy, key] : rejectedBy,
    notBefore: withWait(waits, key, notBefore),
  };
}

/**
 * Returns the waits with `until` for the webhook `key`. `until` is 0 after a response without `Retry-After`, which ends an
 * earlier wait.
 */
function withWait(waits: Progress['notBefore'], key: string, until: number): Progress['notBefore'] {
  if (until > 0) return { ...waits, [key]: until };
  if (waits[key] === undefined) return waits;
  const { [key]: _over, ...others } = waits;
  return others;
}

/** Returns the webhooks that have not rejected the delivery. */
export function remainingWebhooks(
  webhooks: readonly Webhook[],
  { rejectedBy }: Progress,
): readonly Webhook[] {
  return rejectedBy.length === 0 ? webhooks : webhooks.filter(({ key }) => !rejectedBy.includes(key));
}
