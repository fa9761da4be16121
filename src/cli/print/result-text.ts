import type { DestinationOutcome, Outcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { ResponseCause } from '../../diagnosis/explain.ts';
import { printable } from '../../redact.ts';
import { attemptText, attemptWithDetail, detailText, durationText, responderText } from '../attempt-text.ts';
import { fitText } from '../fit-text.ts';
import type { Io, Screen } from '../io.ts';
import { bodyText } from './body-text.ts';
import type { FailureCause } from './failure-cause.ts';
import { decidingAttempt, decidingDestination, destinationMs, lastAttempts } from './deciding-attempt.ts';
import type { Paint } from '../palette.ts';
import type { ResultFacts } from './result-line.ts';
import { formatRow, type Cell } from './table.ts';

const SYMBOL = {
  delivered: '✓',
  failed: '✗',
  filtered: '∅',
  unsent: '·',
  queued: '≡',
} as const satisfies Record<Outcome['outcome'], string>;

const TITLE_WIDTH = 24;

/** Formats a result for people: an aligned line, then lines that explain a failure. */
export function resultText(outcome: Outcome, facts: ResultFacts, screen: Screen): string {
  const { judgement, body, warning, cause } = facts;
  const { color, stdoutColumns: columns } = screen;
  // The body of the message is shown with -v only, as guesses are.
  const guess = body === undefined ? undefined : cause?.guess;
  const below = [
    ...explanation(outcome, cause),
    guess && `perhaps: ${printable(guess, 1_000)}`,
    warning && warningText(warning),
    judgement?.problem,
  ].filter((text) => text !== undefined);
  const lines = [
    formatRow(resultCells(outcome, facts, color), { columns, gap: 1 }),
    ...below.map((text) => fitText(`  ${text}`, columns)),
  ];
  if (body) lines.push(bodyText(Buffer.from(body), '  ', screen));
  return lines.join('\n');
}

/** Returns the columns of a result line. The URL is last, because nothing must align after it. */
function resultCells({ outcome, destinations }: Outcome, facts: ResultFacts, color: Io['color']): Cell[] {
  const { type, title, origin, judgement } = facts;
  const destination = decidingDestination(destinations);
  const last = destination && decidingAttempt(destination);
  const tookMs = last && destination && destinationMs(destination);
  return [
    { text: `${SYMBOL[outcome]} ${outcome}`, minWidth: 11, paint: paintOf(outcome, color) },
    { text: printable(type, 40), minWidth: 8 },
    { text: printable(title, TITLE_WIDTH - 1), minWidth: TITLE_WIDTH, shortest: 12 },
    { text: last === undefined ? '' : String(last.status ?? last.error), minWidth: 7 },
    { text: tookMs === undefined ? '' : durationText(tookMs), minWidth: 6, align: 'end' },
    ...(judgement === undefined ? [] : [verdictCell(judgement.verdict, color)]),
    ...(origin === undefined ? [] : [{ text: printable(origin), shortest: 16, paint: color.dim }]),
    { text: last === undefined ? '' : printable(last.url), shortest: 24 },
  ];
}

/** Warns about a 2xx response whose body reports a failure: its status alone counts as delivered. */
function warningText({ code, says }: ResponseCause): string {
  // Only a guess, shown with -v: some receivers do respond to webhooks with an HTML page.
  if (code === 'page') return 'perhaps: a website responded, because an HTML page came back';
  return `warning: delivered by its status, but ${printable(says, 1_000)}`;
}

function verdictCell(verdict: string, color: Io['color']): Cell {
  return { text: verdict, minWidth: 7, paint: verdict === 'valid' ? color.green : color.red };
}

function paintOf(outcome: Outcome['outcome'], color: Io['color']): Paint {
  if (outcome === 'delivered' || outcome === 'queued') return color.green;
  return outcome === 'failed' ? color.red : color.yellow;
}

/** Explains why a message was not delivered: a sentence, then further lines. Empty for a delivered message. */
export function explanation(
  { outcome, destinations, refusal }: Outcome,
  cause: FailureCause | undefined,
): readonly string[] {
  if (refusal !== undefined && outcome === 'failed') return [rejectionText(refusal.reason, destinations)];
  const destination = decidingDestination(destinations);
  switch (outcome) {
    case 'delivered':
    case 'queued':
      return [];
    case 'filtered':
      return ['Its `integrations` exclude every destination'];
    case 'unsent':
      return destination === undefined ? [] : unsettledText(destination);
    case 'failed':
      return destination === undefined ? [] : failureLines(destination, cause);
    default:
      return outcome satisfies never;
  }
}

/**
 * Turns the reason of a rejection into a sentence. A reason of the tracking API's client can start with `after 3 rounds`.
 */
function rejectionText(reason: string, destinations: Outcome['destinations']): string {
  const shown = printable(reason);
  if (destinations.length === 0) return `Not queued: ${shown}`;
  return shown.startsWith('after ') ? `Delivery failed ${shown}` : `Delivery failed: ${shown}`;
}

function unsettledText(destination: DestinationOutcome): string[] {
  const last = decidingAttempt(destination);
  return last === undefined
    ? []
    : [`Interrupted before the next round; the last attempt: ${attemptText(last)}`];
}

/** Explains a failure: ``Delivery failed after 6 rounds in 30s: 503 Service Unavailable from https://a.example/hook`` */
function failureLines(destination: DestinationOutcome, cause: FailureCause | undefined): string[] {
  const { attempts, reason } = destination;
  const last = decidingAttempt(destination);
  if (last === undefined) return [`Delivery failed: ${reason ?? 'it was not tried'}`];
  const rounds = new Set(attempts.map(({ round }) => round)).size;
  const verb = reason === 'rejected' ? 'Delivery rejected' : 'Delivery failed';
  const effort =
    reason === 'rejected' && rounds === 1
      ? ''
      : ` after ${rounds === 1 ? '1 round' : `${rounds} rounds`} in ${durationText(destinationMs(destination))}`;
  const detail = detailText(last);
  const responder = responderText(last.server, `${detail} ${cause?.says}`);
  return [
    `${verb}${effort}: ${attemptText(last)}`,
    ...(last.location === undefined || last.status === undefined
      ? []
      : [`Location: ${printable(last.location)}`]),
    ...(detail === undefined ? [] : [detail]),
    ...(cause?.says === undefined ? [] : [`cause: ${printable(cause.says, 1_000)}`]),
    ...(responder === undefined ? [] : [responder]),
    ...lastAttempts(destination).flatMap((other) => (other.url === last.url ? [] : alsoLines(other, cause))),
  ];
}

function alsoLines(attempt: AttemptRecord, cause: FailureCause | undefined): string[] {
  const says = cause?.others?.get(attempt.url)?.says;
  const also = `also: ${attemptWithDetail(attempt)}`;
  return says === undefined ? [also] : [also, `cause: ${printable(says, 1_000)}`];
}
