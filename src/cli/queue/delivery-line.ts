import { roundedMs } from '../../clock.ts';
import { capturedBody } from '../../capture/to-capture.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { printable } from '../../redact.ts';
import type { Io } from '../io.ts';
import { attemptCause } from '../print/failure-cause.ts';
import { attemptText, detailText, durationText } from '../attempt-text.ts';

/** The fields of a delivery that `hooks queue list -o json` prints. */
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

/** All fields, with the body and every attempt. The rest of a damaged body is not named `body`, so that no program sends it. */
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
  // Attempts of version 0.1 are kept with more digits.
  return { at: isoTime(at), ...attempt, ms: roundedMs(attempt.ms) };
}

/** Formats a delivery as one aligned line. */
export function briefText(delivery: Delivery, color: Io['color']): string {
  const { id, messageId, type, source, destination, state, reason, createdAt, progress } = delivery;
  const last = progress.attempts.at(-1);
  const paint = state === 'dead' ? color.red : state === 'delivered' ? color.green : color.yellow;
  return [
    paint((reason === undefined ? state : `${state} (${reason})`).padEnd(16)),
    printable(id, 80),
    // The type of an invalid dead letter may be any text.
    printable(type, 40).padEnd(8),
    printable(messageId, 60),
    `${printable(source, 40)} → ${printable(destination, 40)}`,
    isoTime(createdAt),
    ...(last === undefined ? [] : [attemptWithDetail(last)]),
  ].join('  ');
}

/** Formats everything of a delivery, a line each. */
export function fullText(delivery: Delivery, color: Io['color']): string {
  const { detail, createdAt, dueAt, settledAt, orderKeys, progress, body, isDamaged } = delivery;
  const lines = [
    ['added', isoTime(createdAt)],
    settledAt === undefined ? ['due', isoTime(dueAt)] : ['settled', isoTime(settledAt)],
    ...(detail === undefined ? [] : [['why', printable(detail)]]),
    ...(orderKeys.length === 0 ? [] : [['order', orderKeys.map((key) => printable(key, 80)).join(', ')]]),
    ...progress.attempts.map((attempt) => ['attempt', attemptLine(attempt)]),
    ...causeLines(delivery),
    [isDamaged ? 'damaged' : 'body', printable(Buffer.from(body).toString(), 100_000)],
  ];
  return [
    briefText(delivery, color),
    ...lines.map(([name = '', text = '']) => `  ${name.padEnd(8)} ${text}`),
  ].join('\n');
}

/** Why the last attempt failed, and how to fix it. */
function causeLines({ progress: { attempts } }: Delivery): string[][] {
  const last = attempts.at(-1);
  const cause = last && attemptCause(last, { attempts });
  if (cause === undefined) return [];
  const fix = ['fix', printable(cause.hint, 1_000)];
  return cause.says === undefined ? [fix] : [['cause', printable(cause.says, 1_000)], fix];
}

function attemptLine(attempt: AttemptRecord): string {
  return `${isoTime(attempt.at)}  ${attemptWithDetail(attempt)}  in ${durationText(attempt.ms)}`;
}

function attemptWithDetail(attempt: AttemptRecord): string {
  const detail = detailText(attempt);
  return `${attemptText(attempt)}${detail === undefined ? '' : ` (${detail})`}`;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
