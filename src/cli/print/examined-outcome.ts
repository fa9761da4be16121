import type { AttemptRecord } from '../../attempt-record.ts';
import { examineFailure } from '../../diagnosis/explain.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { Io } from '../io.ts';
import { decidingAttempt, decisive } from './deciding-attempt.ts';

/** Causes of the transport that a look at the port may make more exact. */
const INEXACT: ReadonlySet<string> = new Set(['speaks-http', 'tls-handshake']);

/** The outcome, with what a look at the port shows added to the attempt that decided: when a delivery got no response, and why is not known. */
export async function examinedOutcome(outcome: Outcome, io: Pick<Io, 'env' | 'signal'>): Promise<Outcome> {
  const destination = outcome.outcome === 'failed' ? decisive(outcome.destinations) : undefined;
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
