import { isoTime } from '../../../clock.ts';
import type { AttemptRecord } from '../../../attempt-record.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';
import { isJsonObject } from '../../../message/types.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import type { LaneId } from '../../../queue/queue.ts';
import { printable } from '../../../redact.ts';
import { truncateEnd, truncateUrl } from '../../fit-text.ts';
import type { Screen } from '../../io.ts';
import { bodyText } from '../../print/body-text.ts';
import { ColumnLayout, type Column } from '../../print/column-layout.ts';
import { formatRow } from '../../print/table.ts';
import { attemptWithDetail, durationText } from '../../attempt-text.ts';

/** Characters at the end of an id that are printed: enough to differ within a process and between processes. */
const SHORT_ID_LENGTH = 11;

/** The columns of a list at a terminal of 80 columns and more. The webhook has room for `127.0.0.1:8788`. */
const COLUMNS = {
  STATE: { least: 8, most: 9, rank: 2 },
  ID: { least: SHORT_ID_LENGTH, rank: 4 },
  EVENT: { least: 16, most: 40, rank: 1 },
  USER: { least: 8, most: 24, rank: 6 },
  WEBHOOK: { least: 14, most: 50, rank: 7, shorten: truncateUrl },
  ATTEMPTS: { least: 8, align: 'end', rank: 5 },
  DUE: { least: 9, most: 11, rank: 3 },
} as const satisfies Readonly<Record<string, Column>>;

function layoutOf(columns: number): ColumnLayout {
  return new ColumnLayout(Object.values(COLUMNS), columns);
}

/** Formats the head of a list. Empty without a terminal. */
export function briefHead({ color, stdoutColumns: columns }: Screen): string {
  if (columns === undefined) return '';
  const texts = Object.keys(COLUMNS).map((text) => ({ text, paint: color.bold }));
  return `${layoutOf(columns).line(texts)}\n`;
}

/**
 * Formats a delivery as one aligned line. A terminal gets the time until it is due and the end of its id; a pipe gets times
 * and full ids.
 */
export function briefText(delivery: Delivery, screen: Screen, now: number): string {
  const { stdoutColumns: columns, color } = screen;
  if (columns === undefined) return pipedText(delivery);
  const { id, destination, state, progress, body, type } = delivery;
  const { event, name, userId, anonymousId } = factsOf(body);
  const paint = state === 'dead' ? color.red : state === 'delivered' ? color.green : color.yellow;
  return layoutOf(columns).line([
    { text: state, paint },
    { text: printable(id.slice(-SHORT_ID_LENGTH), 80) },
    // The type of an invalid dead letter may be any text.
    { text: printable(event ?? name ?? type, 200) },
    { text: printable(userId ?? anonymousId ?? '', 200) },
    { text: printable(progress.attempts.at(-1)?.url.replace(/^https?:\/\//, '') ?? destination, 200) },
    { text: String(progress.attempts.length) },
    { text: whenText(delivery, now) },
  ]);
}

/**
 * Formats what is wrong with the message of a dead letter that was never sent, as a line below that of `briefText` on a
 * terminal. Empty in a pipe, where it is part of the same line.
 */
export function problemLine(delivery: Delivery, { stdoutColumns: columns, color }: Screen): string {
  const detail = problemOf(delivery);
  if (detail === undefined || columns === undefined) return '';
  return `\n${color.dim(truncateEnd(`  why: ${printable(detail)}`, columns))}`;
}

/** The problem of a dead letter that was not sent, unescaped. Undefined if its attempts or its reason tell enough. */
function problemOf({ detail, reason, destination, source }: Delivery): string | undefined {
  return (
    detail ??
    (reason === 'cancelled'
      ? `No destination ${destination} of source ${source} was enabled in the config`
      : undefined)
  );
}

/** Formats the lane of a delivery. A dead letter without a known destination has only a source. */
export function laneText({ source, destination }: LaneId): string {
  const from = printable(source, 80);
  return destination === '' ? from : `${from} → ${printable(destination, 80)}`;
}

/** When the delivery is due, why it is a dead letter, or when it was delivered. */
function whenText({ reason, settledAt, dueAt, createdAt, state }: Delivery, now: number): string {
  if (reason !== undefined) return reason;
  if (state === 'sending') return 'now';
  return settledAt === undefined ? dueText(dueAt - now) : ageText(now - (settledAt ?? createdAt));
}

function factsOf(
  body: Uint8Array,
): Readonly<Partial<Record<'event' | 'name' | 'userId' | 'anonymousId', string>>> {
  const value = parseJsonOrUndefined(body);
  const texts = isJsonObject(value)
    ? Object.entries(value).filter(([, each]) => typeof each === 'string')
    : [];
  return Object.fromEntries(texts);
}

function pipedText(delivery: Delivery): string {
  const { id, messageId, type, source, destination, state, reason, createdAt, progress } = delivery;
  const detail = problemOf(delivery);
  const last = progress.attempts.at(-1);
  const problem = last === undefined ? detail && printable(detail) : attemptWithDetail(last);
  return formatRow(
    [
      { text: reason === undefined ? state : `${state} (${reason})`, minWidth: 16 },
      { text: printable(id, 80) },
      { text: printable(type, 40), minWidth: 8 },
      { text: printable(messageId, 60) },
      { text: laneText({ source, destination }) },
      { text: isoTime(createdAt) },
      ...(problem === undefined ? [] : [{ text: problem }]),
    ],
    { columns: undefined },
  );
}

const AGES = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** Formats an age in its largest unit: `2 min ago`. A negative age, from clocks that differ, becomes `0 s ago`. */
export function ageText(ms: number): string {
  return `${roughTime(ms)} ago`;
}

/** Formats the time until a delivery is due: `in 2 min`, or `now`. */
export function dueText(ms: number): string {
  return ms <= 0 ? 'now' : `in ${roughTime(ms)}`;
}

function roughTime(ms: number): string {
  const [size, unit] = AGES.find(([each]) => ms >= each) ?? [1_000, 's'];
  const count = Math.max(0, Math.floor(ms / size));
  return `${count} ${count === 1 && unit === 'days' ? 'day' : unit}`;
}

/** Formats a delivery with all details, one per line. */
export async function fullText(delivery: Delivery, screen: Screen, now: number): Promise<string> {
  const { id, createdAt, dueAt, settledAt, orderKeys, progress, body, isDamaged } = delivery;
  const detail = problemOf(delivery);
  const { stdoutColumns: columns } = screen;
  const lines = [
    ...(columns === undefined ? [] : [['id', printable(id, 80)]]),
    ['added', isoTime(createdAt)],
    settledAt === undefined ? ['due', isoTime(dueAt)] : ['settled', isoTime(settledAt)],
    ...(detail === undefined ? [] : [['why', printable(detail)]]),
    ...(delivery.reason === 'cancelled' ? [['fix', CANCELLED_FIX]] : []),
    ...(orderKeys.length === 0 ? [] : [['order', orderKeys.map((key) => printable(key, 80)).join(', ')]]),
    ...progress.attempts.flatMap((attempt) => [['attempt', attemptLine(attempt)], ...traceLines(attempt)]),
    ...(await causeLines(delivery)),
  ];
  return [
    briefText(delivery, screen, now),
    ...lines.map(([name = '', text = '']) =>
      formatRow([{ text: `  ${name}`, minWidth: 10 }, { text }], { columns, gap: 1 }),
    ),
    ...bodyLines(body, isDamaged ? 'damaged' : 'body', screen),
  ].join('\n');
}

const CANCELLED_FIX =
  'put the destination back into the config, and run hooks queue retry; or deliver to another with --to NAME';

function bodyLines(body: Uint8Array, name: string, screen: Screen): string[] {
  if (screen.stdoutColumns === undefined) return [bodyText(body, `  ${name.padEnd(8)} `, screen)];
  return [`  ${name}`, bodyText(body, '    ', screen)];
}

/**
 * Returns lines that explain why the last attempt failed, and how to fix it. Loads the code that finds the cause only for a
 * failure.
 */
async function causeLines({ progress: { attempts } }: Delivery): Promise<string[][]> {
  const last = attempts.at(-1);
  if (last?.error === undefined) return [];
  const { attemptCause } = await import('../../print/failure-cause.ts');
  const cause = attemptCause(last, { attempts });
  if (cause === undefined) return [];
  const fix = ['fix', printable(cause.hint, 1_000)];
  return cause.says === undefined ? [fix] : [['cause', printable(cause.says, 1_000)], fix];
}

function attemptLine(attempt: AttemptRecord): string {
  return `${isoTime(attempt.at)}  ${attemptWithDetail(attempt)}  in ${durationText(attempt.ms)}`;
}

function traceLines({ traceId, spanId }: AttemptRecord): string[][] {
  return traceId === undefined || spanId === undefined ? [] : [['trace', `${traceId} span ${spanId}`]];
}
