import type { DestinationOutcome, Outcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';

/** The destination to look at: of several, the one that was not delivered. */
export function decisive(destinations: readonly DestinationOutcome[]): DestinationOutcome | undefined {
  return destinations.find(({ outcome }) => outcome !== 'delivered') ?? destinations[0];
}

/** The attempt that delivered it, else the last one. */
export function decidingAttempt({ attempts }: DestinationOutcome): AttemptRecord | undefined {
  return attempts.find(({ error }) => error === undefined) ?? attempts.at(-1);
}

export function decidingAttemptOf({ destinations }: Outcome): AttemptRecord | undefined {
  const destination = decisive(destinations);
  return destination && decidingAttempt(destination);
}

/** The time from the start of the first attempt to the response that decided. */
export function destinationMs(destination: DestinationOutcome): number {
  const [first, last] = [destination.attempts[0], decidingAttempt(destination)];
  return first === undefined || last === undefined ? 0 : last.at + last.ms - first.at;
}
