import type { DestinationOutcome, Outcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { ResponseCause } from '../../diagnosis/explain.ts';
import { printable } from '../../redact.ts';
import { attemptText, attemptWithDetail, detailText, durationText, responderText } from '../attempt-text.ts';
import { fitText, truncateUrl } from '../fit-text.ts';
import type { Screen } from '../io.ts';
import { bodyText } from './body-text.ts';
import { ColumnLayout, type Column, type ColumnText } from './column-layout.ts';
import type { FailureCause } from './failure-cause.ts';
import { decidingAttempt, decidingDestination, destinationMs, lastAttempts } from './deciding-attempt.ts';
import type { Paint, Palette } from '../palette.ts';
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
    columns === undefined
      ? pipedLine(outcome, facts, color)
      : terminalLine(outcome, facts, { color, columns }),
    ...below.map((text) => fitText(`  ${text}`, columns)),
  ];
  if (body) lines.push(bodyText(Buffer.from(body), '  ', screen));
  return lines.join('\n');
}

/** The columns of a result at a terminal. The URL is last, because nothing must align after it. */
const COLUMNS = {
  outcome: { least: 11, rank: 1 },
  type: { least: 8, rank: 4 },
  title: { least: 12, most: 24, rank: 3 },
  status: { least: 7, most: 15, rank: 2 },
  took: { least: 6, rank: 6, align: 'end' },
  verdict: { least: 7, rank: 5 },
  origin: { least: 16, most: 24, rank: 7 },
  url: { least: 14, most: Infinity, rank: 8, shorten: truncateUrl },
} as const satisfies Readonly<Record<string, Column>>;

function terminalLine(
  outcome: Outcome,
  facts: ResultFacts,
  { color, columns }: { readonly color: Palette; readonly columns: number },
): string {
  const { url, ...others } = resultTexts(outcome, facts, color);
  // Without its scheme, so that the host and the port have room.
  const texts = { ...others, url: { text: url.text.replace(/^https?:\/\//, '') } };
  const shown = Object.entries(COLUMNS).flatMap(([name, column]) => {
    const text = texts[name as keyof typeof COLUMNS]; // Object.entries widens the keys
    return text === undefined ? [] : [{ column, text }];
  });
  const layout = new ColumnLayout(
    shown.map(({ column }) => column),
    columns,
  );
  return layout.line(shown.map(({ text }) => text));
}

function pipedLine(outcome: Outcome, facts: ResultFacts, color: Palette): string {
  const {
    outcome: head,
    type,
    title,
    status,
    took,
    verdict,
    origin,
    url,
  } = resultTexts(outcome, facts, color);
  const cells: readonly Cell[] = [
    { ...head, minWidth: 11 },
    { ...type, minWidth: 8 },
    { ...title, minWidth: TITLE_WIDTH },
    { ...status, minWidth: 7 },
    { ...took, minWidth: 6, align: 'end' },
    ...(verdict === undefined ? [] : [{ ...verdict, minWidth: 7 }]),
    ...(origin === undefined ? [] : [origin]),
    url,
  ];
  return formatRow(cells, { columns: undefined, gap: 1 });
}

type ResultTexts = Readonly<Record<Exclude<keyof typeof COLUMNS, 'verdict' | 'origin'>, ColumnText>> & {
  /** The verdict of the receiver that `--loopback` starts. */
  readonly verdict: ColumnText | undefined;
  readonly origin: ColumnText | undefined;
};

function resultTexts(
  { outcome, destinations, refusal }: Outcome,
  facts: ResultFacts,
  color: Palette,
): ResultTexts {
  const { type, title, origin, judgement } = facts;
  const destination = decidingDestination(destinations);
  const last = destination && decidingAttempt(destination);
  const tookMs = last && destination && destinationMs(destination);
  return {
    outcome: { text: `${SYMBOL[outcome]} ${outcome}`, paint: paintOf(outcome, color) },
    type: { text: printable(type, 40) },
    title: { text: printable(title, 200) },
    status: { text: last === undefined ? '' : statusText(last, refusal) },
    took: { text: tookMs === undefined ? '' : durationText(tookMs) },
    verdict: judgement && verdictText(judgement.verdict, color),
    origin: origin === undefined ? undefined : { text: printable(origin), paint: color.dim },
    url: { text: last === undefined ? '' : printable(last.url) },
  };
}

/** The status of the response, or the error. A tracking API can reject a message of a batch in a response of 200. */
function statusText({ status, error }: AttemptRecord, refusal: Outcome['refusal']): string {
  const isRejected = error === undefined && refusal !== undefined;
  return isRejected ? printable(refusal.code, 40) : String(status ?? error);
}

/** Warns about a 2xx response whose body reports a failure: its status alone counts as delivered. */
function warningText({ code, says }: ResponseCause): string {
  // Only a guess, shown with -v: some receivers do respond to webhooks with an HTML page.
  if (code === 'page') return 'perhaps: a website responded, because an HTML page came back';
  return `warning: delivered by its status, but ${printable(says, 1_000)}`;
}

function verdictText(verdict: string, color: Palette): ColumnText {
  return { text: verdict, paint: verdict === 'valid' ? color.green : color.red };
}

function paintOf(outcome: Outcome['outcome'], color: Palette): Paint {
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
