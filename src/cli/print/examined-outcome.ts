import { examineFailure, type ExaminedFailure } from '../../diagnosis/explain.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { Io } from '../io.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import { decidingDestination, lastAttempts, MOST_CAUSES } from './deciding-attempt.ts';

/**
 * Examines the webhooks of a failed delivery whose responses do not explain the failure. Adds each cause to the last attempt
 * at its webhook.
 */
export async function examinedOutcome(outcome: Outcome, io: Pick<Io, 'env' | 'signal'>): Promise<Outcome> {
  const destination = outcome.outcome === 'failed' ? decidingDestination(outcome.destinations) : undefined;
  if (destination === undefined) return outcome;
  const attempted = outcome.destinations.flatMap((each) => each.attempts);
  // A host that cannot be resolved is no correction of another.
  const urls = attempted.filter(({ error }) => error !== 'dns').map(({ url }) => url);
  const examined = new Map<AttemptRecord, ExaminedFailure>();
  const examine = async (attempt: AttemptRecord): Promise<void> => {
    const { url, error, cause, status } = attempt;
    if (error === undefined) return;
    const found = await examineFailure({ url, error, cause, status, urls, env: io.env, signal: io.signal });
    if (found !== undefined) examined.set(attempt, found);
  };
  await Promise.all(lastAttempts(destination).slice(-MOST_CAUSES).map(examine));
  if (examined.size === 0) return outcome;
  const attempts = destination.attempts.map((each) => ({ ...each, ...examined.get(each) }));
  const destinations = outcome.destinations.map((each) =>
    each === destination ? { ...each, attempts } : each,
  );
  return { ...outcome, destinations };
}
