import type { AttemptRecord } from '../../attempt-record.ts';
import { examineFailure } from '../../diagnosis/explain.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { Io } from '../io.ts';
import { decidingAttempt, decidingDestination } from './deciding-attempt.ts';

/** Causes of transport errors that examining the port can make more exact. */
const INEXACT: ReadonlySet<string> = new Set(['speaks-http', 'tls-handshake']);

/**
 * Examines the port of a failed delivery that got no response for an unclear reason. Adds the cause to the deciding attempt.
 */
export async function examinedOutcome(outcome: Outcome, io: Pick<Io, 'env' | 'signal'>): Promise<Outcome> {
  const destination = outcome.outcome === 'failed' ? decidingDestination(outcome.destinations) : undefined;
  const attempt = destination && decidingAttempt(destination);
  if (destination === undefined || attempt?.error === undefined || !isInexact(attempt)) return outcome;
  const { url, error } = attempt;
  const found = await examineFailure({ url, error, env: io.env, signal: io.signal });
  if (found === undefined) return outcome;
  const attempts = destination.attempts.map((each) => (each === attempt ? { ...each, ...found } : each));
  const destinations = outcome.destinations.map((each) =>
    each === destination ? { ...each, attempts } : each,
  );
  return { ...outcome, destinations };
}

function isInexact({ status, error, cause }: AttemptRecord): boolean {
  return (status === undefined || error === 'protocol') && (cause === undefined || INEXACT.has(cause));
}
