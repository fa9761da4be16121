import { examineFailure } from '../../diagnosis/explain.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { Io } from '../io.ts';
import { decidingAttempt, decidingDestination } from './deciding-attempt.ts';

/**
 * Examines the port of a failed delivery that got no response for an unclear reason. Adds the cause to the deciding attempt.
 */
export async function examinedOutcome(outcome: Outcome, io: Pick<Io, 'env' | 'signal'>): Promise<Outcome> {
  const destination = outcome.outcome === 'failed' ? decidingDestination(outcome.destinations) : undefined;
  const attempt = destination && decidingAttempt(destination);
  if (destination === undefined || attempt?.error === undefined) return outcome;
  const { url, error, cause, status } = attempt;
  // A response that breaks HTTP can have a status. Its port is examined.
  if (status !== undefined && error !== 'protocol') return outcome;
  const urls = outcome.destinations.flatMap((each) => each.attempts.map((other) => other.url));
  const found = await examineFailure({ url, error, cause, urls, env: io.env, signal: io.signal });
  if (found === undefined) return outcome;
  const attempts = destination.attempts.map((each) => (each === attempt ? { ...each, ...found } : each));
  const destinations = outcome.destinations.map((each) =>
    each === destination ? { ...each, attempts } : each,
  );
  return { ...outcome, destinations };
}
