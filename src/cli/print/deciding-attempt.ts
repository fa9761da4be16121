import type { DestinationOutcome, Outcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';

/**
 * Returns the destination that decides the outcome of a message: the first that was not delivered, else the first of all.
 */
export function decidingDestination(
  destinations: readonly DestinationOutcome[],
): DestinationOutcome | undefined {
  return destinations.find(({ outcome }) => outcome !== 'delivered') ?? destinations[0];
}

/** Returns the deciding destination of a message, or undefined if it was not attempted. */
export function triedDestination({ destinations }: Outcome): DestinationOutcome | undefined {
  const destination = decidingDestination(destinations);
  return destination?.attempts.length === 0 ? undefined : destination;
}

/** Returns the attempt that delivered the message, else the last attempt. */
export function decidingAttempt({ attempts }: DestinationOutcome): AttemptRecord | undefined {
  return attempts.find(({ error }) => error === undefined) ?? attempts.at(-1);
}

export function decidingAttemptOf({ destinations }: Outcome): AttemptRecord | undefined {
  const destination = decidingDestination(destinations);
  return destination && decidingAttempt(destination);
}

/** Number of webhooks of a message whose failures are explained. */
export const MOST_CAUSES = 3;

/** Returns the last attempt at each webhook of a destination. */
export function lastAttempts({ attempts }: DestinationOutcome): readonly AttemptRecord[] {
  return [...new Map(attempts.map((attempt) => [attempt.url, attempt])).values()];
}

/** Returns the milliseconds from the start of the first attempt to the end of the deciding one. */
export function destinationMs(destination: DestinationOutcome): number {
  const [first, last] = [destination.attempts[0], decidingAttempt(destination)];
  return first === undefined || last === undefined ? 0 : last.at + last.ms - first.at;
}
