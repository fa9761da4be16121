import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import type { ReportedResult } from '../../../report/report.ts';
import type { Origin } from '../../../replay/reading/replay-entry.ts';
import { tenths } from '../../attempt-text.ts';
import { decidingAttemptOf, decidingDestination, destinationMs } from '../../print/deciding-attempt.ts';
import type { ResultFacts } from '../../print/result-line.ts';
import { explanation } from '../../print/result-text.ts';

export function reportedResult(
  origin: Origin,
  { title, type, cause }: ResultFacts,
  outcome: Outcome,
): ReportedResult {
  const destination = decidingDestination(outcome.destinations);
  const last = decidingAttemptOf(outcome);
  return {
    name: caseName({ title, type }),
    origin,
    outcome: outcome.outcome,
    messageId: outcome.messageId,
    url: last?.url,
    status: last?.status,
    error: outcome.refusal?.code ?? last?.error,
    reason: reasonText(outcome, cause),
    attempts: destination?.attempts.length ?? 0,
    ms: destination && tenths(destinationMs(destination)),
  };
}

/** Returns the name of a message in a report, such as `track "Order Completed"`. */
export function caseName({ title, type }: Pick<ResultFacts, 'title' | 'type'>): string {
  return title === '' ? type : `${type} "${title}"`;
}

/** Returns why a message was not delivered, as one line. Undefined if there is no explanation. */
function reasonText(outcome: Outcome, cause: ResultFacts['cause']): string | undefined {
  const lines = explanation(outcome, cause);
  return lines.length === 0 ? undefined : lines.join('; ');
}
