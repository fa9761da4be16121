import { isoTime } from '../../../clock.ts';
import { capturedBody } from '../../../capture/to-capture.ts';
import type { AttemptRecord } from '../../../attempt-record.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import { printable } from '../../../redact.ts';
import type { Screen } from '../../io.ts';
import { truncateMiddle } from '../../fit-text.ts';
import { formatRow, type Cell } from '../../print/table.ts';
import { attemptWithDetail, durationText } from '../../attempt-text.ts';

/** Returns the fields of a delivery that `hooks queue list -o json` prints. */
export function briefJson(delivery: Delivery): Record<string, unknown> {
  const { id, messageId, type, source, destination, state, reason, detail, createdAt, dueAt, settledAt } =
    delivery;
  const { rounds, attempts } = delivery.progress;
  const last = attempts.at(-1);
  return {
    id,
    messageId,
    type,
    source,
    destination,
    state,
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
    createdAt: isoTime(createdAt),
    ...(settledAt === undefined ? { dueAt: isoTime(dueAt) } : { settledAt: isoTime(settledAt) }),
    rounds,
    ...(last !== undefined && { lastAttempt: attemptJson(last) }),
  };
}

/** Returns all fields, with the body and every attempt. A damaged body is named `damaged`, so that no program sends it. */
export function fullJson(delivery: Delivery): Record<string, unknown> {
  const { orderKeys, progress, body, isDamaged } = delivery;
  const { lastAttempt: _, ...brief } = briefJson(delivery);
  return {
    ...brief,
    orderKeys,
    ...(progress.firstAttemptAt !== undefined && { firstAttemptAt: isoTime(progress.firstAttemptAt) }),
    rejectedBy: progress.rejectedBy,
    attempts: progress.attempts.map(attemptJson),
    ...(isDamaged ? { damaged: capturedBody(body) } : capturedBody(body)),
  };
}

function attemptJson({ at, ...attempt }: AttemptRecord): object {
  return { at: isoTime(at), ...attempt };
}

/** Characters at the end of an id that are printed: enough to differ within a process and between processes. */
const SHORT_ID_LENGTH = 11;

/** The columns of `briefText`: their heads, and their minimum widths on a terminal and elsewhere. */
const BRIEF_COLUMNS = [
  { head: 'STATE', atTerminal: 16, elsewhere: 16 },
  { head: 'ID', atTerminal: SHORT_ID_LENGTH, elsewhere: 0 },
  { head: 'TYPE', atTerminal: 8, elsewhere: 8 },
  { head: 'MESSAGE', atTerminal: 12, elsewhere: 0 },
  { head: 'SOURCE → DESTINATION', atTerminal: 20, elsewhere: 0 },
  { head: 'ADDED', atTerminal: 10, elsewhere: 0 },
  { head: 'LAST ATTEMPT', atTerminal: 0, elsewhere: 0 },
];

/** Formats the table head for the lines of `briefText` on a terminal. */
export function briefHead({ color, stdoutColumns: columns }: Screen): string {
  return formatRow(
    BRIEF_COLUMNS.map(({ head, atTerminal }) => ({ text: head, minWidth: atTerminal, paint: color.bold })),
    { columns },
  );
}

/**
 * Formats a delivery as one aligned line. A terminal gets its age and shortened ids; a pipe gets the time and the full ids.
 */
export function briefText(delivery: Delivery, screen: Screen, now: number): string {
  const { id, messageId, type, source, destination, state, reason, createdAt, progress } = delivery;
  const { color, stdoutColumns: columns } = screen;
  const isTerminal = columns !== undefined;
  const last = progress.attempts.at(-1);
  const paint = state === 'dead' ? color.red : state === 'delivered' ? color.green : color.yellow;
  const texts = [
    reason === undefined ? state : `${state} (${reason})`,
    printable(isTerminal ? id.slice(-SHORT_ID_LENGTH) : id, 80),
    // The type of an invalid dead letter may be any text.
    printable(type, 40),
    isTerminal ? truncateMiddle(printable(messageId), 12) : printable(messageId, 60),
    `${printable(source, 40)} → ${printable(destination, 40)}`,
    isTerminal ? ageText(now - createdAt) : isoTime(createdAt),
    ...(last === undefined ? [] : [attemptWithDetail(last)]),
  ];
  const cells = texts.map((text, column): Cell => {
    const { atTerminal = 0, elsewhere = 0 } = BRIEF_COLUMNS[column] ?? {};
    return { text, minWidth: isTerminal ? atTerminal : elsewhere, ...(column === 0 && { paint }) };
  });
  return formatRow(cells, { columns });
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
  const { id, detail, createdAt, dueAt, settledAt, orderKeys, progress, body, isDamaged } = delivery;
  const { stdoutColumns: columns } = screen;
  const lines = [
    ...(columns === undefined ? [] : [['id', printable(id, 80)]]),
    ['added', isoTime(createdAt)],
    settledAt === undefined ? ['due', isoTime(dueAt)] : ['settled', isoTime(settledAt)],
    ...(detail === undefined ? [] : [['why', printable(detail)]]),
    ...(orderKeys.length === 0 ? [] : [['order', orderKeys.map((key) => printable(key, 80)).join(', ')]]),
    ...progress.attempts.flatMap((attempt) => [['attempt', attemptLine(attempt)], ...traceLines(attempt)]),
    ...(await causeLines(delivery)),
  ];
  return [
    briefText(delivery, screen, now),
    ...lines.map(([name = '', text = '']) =>
      formatRow([{ text: `  ${name}`, minWidth: 10 }, { text }], { columns, gap: 1 }),
    ),
    // The body is not wrapped, so that it can be copied.
    `  ${isDamaged ? 'damaged ' : 'body    '} ${printable(Buffer.from(body).toString(), 100_000)}`,
  ].join('\n');
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
