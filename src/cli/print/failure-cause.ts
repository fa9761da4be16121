import type { Confidence } from '../../confidence.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import { TRACKING_API, type DestinationOutcome, type Outcome } from '../../app/pipeline/outcomes.ts';
import { causeCodeOf, causeOf, networkCauseOf } from '../../diagnosis/explain.ts';
import { decidingAttempt, decidingDestination, lastAttempts, MOST_CAUSES } from './deciding-attempt.ts';

/** Why an attempt or a delivery failed, beyond its status or error, and how to fix it. Texts are unescaped. */
export interface FailureCause {
  readonly code: string;
  /** The cause as a sentence without a full stop. Undefined if the attempt's status or error detail already says it. */
  readonly says: string | undefined;
  /** A guess by the status alone, as a sentence without a full stop. Only `-v` prints it. */
  readonly guess?: string | undefined;
  /** Undefined for a cause without a response. */
  readonly confidence?: Confidence | undefined;
  readonly hint: string;
  /** The causes of the other webhooks that failed, by URL. At most two, each with another hint than the ones before. */
  readonly others?: ReadonlyMap<string, FailureCause>;
}

export function failureCause({ outcome, destinations, refusal }: Outcome): FailureCause | undefined {
  if (outcome === 'filtered') {
    return {
      code: 'filtered',
      says: undefined,
      hint: 'set a destination to true in its `integrations`, or leave them out',
    };
  }
  const destination = outcome === 'failed' ? decidingDestination(destinations) : undefined;
  const attempt = destination && decidingAttempt(destination);
  if (destination === undefined || attempt === undefined) return undefined;
  if (destination.name === TRACKING_API) {
    return trackingApiCause(attempt, refusal?.reason) ?? attemptCause(attempt, destination);
  }
  const byHint = new Map<string, readonly [url: string, cause: FailureCause]>();
  for (const each of [attempt, ...lastAttempts(destination)]) {
    const cause = attemptCause(each, destination);
    if (cause !== undefined && !byHint.has(cause.hint)) byHint.set(cause.hint, [each.url, cause]);
  }
  const [[, first] = [], ...others] = byHint.values();
  if (first === undefined) return undefined;
  const isLater = attempt.status !== undefined && attempt.result === 'retryable';
  const hint = first.hint + (isLater ? '; --retry-for tries longer' : '');
  return { ...first, hint, others: new Map(others.slice(0, MOST_CAUSES - 1)) };
}

/** Returns the cause of one failed attempt. The other attempts of its delivery can show that the receiver died. */
export function attemptCause(
  attempt: AttemptRecord,
  { attempts }: Pick<DestinationOutcome, 'attempts'>,
): FailureCause | undefined {
  const { status, error, cause, url, retryAfter } = attempt;
  if (error === undefined) return undefined;
  if (status === undefined || error === 'protocol' || attempt.shown !== undefined) {
    const known = diedOn(attempt, attempts) ? 'died' : cause;
    const found = networkCauseOf({ error, cause: known }, attempt);
    return found && { code: found.code, says: found.says, confidence: found.confidence, hint: found.fix };
  }
  const code = cause ?? causeCodeOf({ status, headers: {}, body: '', isSigned: true });
  const found = causeOf(code, { ...attempt, status, url, quotation: attempt.detail });
  const { confidence, isQuotation, kind, fix: hint } = found;
  const isMore =
    cause !== undefined || retryAfter !== undefined || (kind !== 'status' && !SAYS_ITSELF.has(status));
  // The line of the attempt has the status and the quotation.
  const isNews = !isQuotation && !found.code.startsWith('status');
  const isShown = isMore && isNews && confidence !== 'possible';
  const guess = isNews && confidence === 'possible' ? found.says : undefined;
  return { code, says: isShown ? found.says : undefined, guess, confidence, hint };
}

/** HTTP statuses whose reason phrase already names the cause, such as 429 Too Many Requests. */
const SAYS_ITSELF: ReadonlySet<number> = new Set([408, 423, 425, 429, 503]);

/** Whether the receiver reset a connection for this delivery earlier and refuses connections since. */
function diedOn({ error, url }: AttemptRecord, attempts: readonly AttemptRecord[]): boolean {
  return error === 'refused' && attempts.some((earlier) => earlier.url === url && earlier.error === 'reset');
}

/** Hints by status of a tracking API, which verifies the write key instead of a signature. */
const BY_TRACKING_API_STATUS: Readonly<Record<number, string>> = {
  400: 'compare the message with what the tracking API accepts',
  401: 'check the write key (--write-key or HOOKS_WRITE_KEY): it belongs to one source',
  403: 'check the write key (--write-key or HOOKS_WRITE_KEY): it belongs to one source',
  404: 'check the path of --endpoint: batches go to …/v1/batch',
  405: 'check the path of --endpoint: batches go to …/v1/batch',
};

/** Matches an error whose text after the URL mentions signatures: the URL is a webhook receiver, not a tracking API. */
const SIGNED_RECEIVER = /^\d+ from \S+ .*\b(?:signature|hmac)\b/i;

const SIGNED_HINT =
  'send to it with --url and its secret (--secret-file FILE): it verifies signatures, and --endpoint is for tracking APIs';

function trackingApiCause({ status = 0 }: AttemptRecord, reason = ''): FailureCause | undefined {
  const hint = SIGNED_RECEIVER.test(reason) ? SIGNED_HINT : BY_TRACKING_API_STATUS[status];
  return hint === undefined ? undefined : { code: 'tracking-api', says: undefined, hint };
}
