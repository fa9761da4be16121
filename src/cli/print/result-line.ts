import type { Outcome, DestinationOutcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { Message } from '../../message/types.ts';
import type { ReportedOutcome } from '../../report/report.ts';
import type { ResponseCause } from '../../diagnosis/explain.ts';
import { printable } from '../../redact.ts';
import type { ReceivedRequest } from '../../receiver/received-request.ts';
import { isoTime } from '../../clock.ts';
import { tenths } from '../attempt-text.ts';
import { decidingAttempt, decisive, destinationMs } from './deciding-attempt.ts';
import type { FailureCause } from './failure-cause.ts';

/** What a result line says of a message besides its outcome. */
export interface ResultFacts {
  readonly type: string;
  /** What a person knows it by: the event, the page's name, the user. */
  readonly title: string;
  /** `file:line`, for a replay. */
  readonly origin?: string;
  readonly body?: string | undefined;
  /** Why it failed. */
  readonly cause?: FailureCause | undefined;
  /** What the body of a 2xx says against it. */
  readonly warning?: ResponseCause;
  /** What the receiver of --loopback thought of it. */
  readonly judgement?: Pick<ReceivedRequest, 'verdict' | 'problem'>;
}

/** Whether nothing is left to do about the message here. */
export function isTaken(outcome: ReportedOutcome): boolean {
  return outcome === 'delivered' || outcome === 'queued';
}

/** What a person knows the message by: its event or name, else the id of its group or user. */
export function messageTitleOf({ event, name, properties, groupId, userId, anonymousId }: Message): string {
  const title = event ?? name ?? properties?.['name'] ?? groupId ?? userId ?? anonymousId;
  return typeof title === 'string' ? title : '';
}

/** The JSON object of a message that `-o json` prints as a line and reports contain. JSON leaves out what is undefined. */
export function resultLine(
  result: Outcome,
  { type, origin, body, judgement, warning, cause: known }: ResultFacts,
): Readonly<Record<string, unknown>> {
  const { messageId, outcome, destinations, refusal } = result;
  const cause = outcome === 'failed' ? known : undefined;
  const decided = destinationFields(decisive(destinations) ?? UNTRIED);
  return {
    messageId,
    type,
    outcome,
    url: decided.url,
    status: decided.status,
    error: refusal?.code ?? decided.error,
    reason: refusal === undefined ? decided.reason : printable(refusal.reason),
    attempts: decided.attempts,
    ms: decided.ms,
    signature: decided.signature,
    signatures: decided.signatures,
    cause: cause?.code,
    warning: warning?.code,
    hint: printableHint(cause?.hint ?? warning?.fix),
    destinations: destinations.length > 1 ? byName(destinations) : undefined,
    verdict: judgement?.verdict,
    problem: judgement?.problem,
    body,
    origin,
  };
}

function printableHint(hint: string | undefined): string | undefined {
  return hint === undefined ? undefined : printable(hint, 1_000);
}

function byName(destinations: readonly DestinationOutcome[]): object {
  return Object.fromEntries(
    destinations.map((each) => [each.name, { outcome: each.outcome, ...destinationFields(each) }]),
  );
}

/** Gives every line its attempts, so that a program that reads them need not ask whether there are any. */
const UNTRIED: DestinationOutcome = { name: '', outcome: 'unsent', attempts: [] };

function destinationFields(destination: DestinationOutcome) {
  const { attempts, signature, signatures, reason } = destination;
  const last = decidingAttempt(destination);
  return {
    url: last?.url,
    status: last?.status,
    error: last?.error,
    reason,
    attempts: attempts.map(attemptFields),
    ms: tenths(destinationMs(destination)),
    signature,
    signatures,
  };
}

function attemptFields(attempt: AttemptRecord) {
  const { at, url, status, error, cause, server, location, ms, reconnected, traceId, spanId } = attempt;
  const time = isoTime(at);
  const ids = { traceId, spanId };
  return { at: time, url, status, error, cause, server, location, ms: tenths(ms), reconnected, ...ids };
}
