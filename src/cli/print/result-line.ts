import type { Outcome, DestinationOutcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { Message } from '../../message/types.ts';
import type { ReportedOutcome } from '../../report/report.ts';
import type { ResponseCause } from '../../diagnosis/explain.ts';
import { printable } from '../../redact.ts';
import type { ReceivedRequest } from '../../receiver/received-request.ts';
import { isoTime } from '../../clock.ts';
import { tenths } from '../attempt-text.ts';
import { decidingAttempt, decidingDestination, destinationMs } from './deciding-attempt.ts';
import type { FailureCause } from './failure-cause.ts';

/** Facts about a message that its result line shows besides the outcome. */
export interface ResultFacts {
  readonly type: string;
  /** Short description of the message for people: the event, the page's name, the user. */
  readonly title: string;
  /** Position of the message in an input of `hooks replay`: `file:line`. */
  readonly origin?: string | undefined;
  readonly body?: string | undefined;
  /** Why the delivery failed. */
  readonly cause?: FailureCause | undefined;
  /** The failure that the body of a 2xx response reports. */
  readonly warning?: ResponseCause | undefined;
  /** The result of verifying the message in the receiver of --loopback. */
  readonly judgement?:
    (Pick<ReceivedRequest, 'verdict'> & { readonly problem: string | undefined }) | undefined;
}

/** Whether the receiver of --loopback, if any, accepts the signature and the message. */
export function isSound(judgement: ResultFacts['judgement']): boolean {
  return judgement === undefined || (judgement.verdict === 'valid' && judgement.problem === undefined);
}

/** Whether an outcome (delivered or queued) leaves the command nothing to do for the message. */
export function isTaken(outcome: ReportedOutcome): boolean {
  return outcome === 'delivered' || outcome === 'queued';
}

/** Returns the title of a message: its event or name, else the id of its group or user. */
export function messageTitleOf({ event, name, properties, groupId, userId, anonymousId }: Message): string {
  const title = event ?? name ?? properties?.['name'] ?? groupId ?? userId ?? anonymousId;
  return typeof title === 'string' ? title : '';
}

/** Returns the JSON object of a message for `-o json` and for reports. JSON leaves out undefined fields. */
export function resultLine(
  result: Outcome,
  { type, origin, body, judgement, warning, cause: known }: ResultFacts,
): Readonly<Record<string, unknown>> {
  const { messageId, outcome, destinations, refusal } = result;
  const cause = outcome === 'failed' ? known : undefined;
  const decided = destinationFields(decidingDestination(destinations) ?? UNTRIED);
  return {
    messageId,
    type,
    outcome,
    ...decided,
    error: refusal?.code ?? decided.error,
    reason: refusal === undefined ? decided.reason : printable(refusal.reason),
    cause: cause?.code,
    warning: warning?.code,
    confidence: cause?.confidence ?? warning?.confidence,
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

/** A destination without attempts, so that every JSON line has `attempts`, which programs can read without a check. */
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
