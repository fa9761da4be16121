import type { Row, SqlValue } from '../file/sqlite.ts';
import type { Sql } from '../file/store.ts';
import { checksumOf } from '../../../queue/checksum.ts';
import {
  NO_PROGRESS,
  type DeadReason,
  type Delivery,
  type DeliveryState,
  type Progress,
} from '../../../queue/delivery.ts';
import type { LaneId } from '../../../queue/queue.ts';
import type { LaneEntry } from './sqlite-lines.ts';

/** SQL expression for the state of a delivery. Needs `progress p` and `claims c`. */
export const STATE = `
  CASE
    WHEN p.settled_state IS NOT NULL THEN p.settled_state
    WHEN c.seq IS NOT NULL THEN 'sending'
    WHEN p.rounds > 0 THEN 'retrying'
    ELSE 'pending'
  END AS state`;

export const WITH_STATE = 'LEFT JOIN progress p ON p.seq = d.seq LEFT JOIN claims c ON c.seq = d.seq';

/** The columns that `readDelivery` needs, of `deliveries d`, `lanes l`, `progress p` and `claims c`. */
export const READABLE_COLUMNS = `
  d.seq, d.id, d.lane, d.message_id, d.type, d.order_keys, d.created_at, d.body, d.checksum, d.trace,
  coalesce(p.due_at, d.due_at) AS due_at,
  p.rounds, p.first_attempt_at, p.attempts, p.rejected_by, p.not_before, p.reason, p.detail, p.settled_at,
  l.source, l.destination, ${STATE}`;

/** SQL that selects deliveries for `readDelivery`. The caller adds the WHERE clause. */
export const SELECT_DELIVERIES = `
  SELECT ${READABLE_COLUMNS}
  FROM deliveries d JOIN lanes l ON l.lane = d.lane ${WITH_STATE}`;

export function readDelivery(row: Row): Delivery {
  const state = row['state'] as DeliveryState; // as STATE says
  return rowToDelivery(row, { ...laneOf(row), state });
}

export function laneOf({ source, destination }: Row): LaneId {
  return { source: String(source), destination: String(destination) };
}

/** Converts a row to a delivery. The second argument has the fields of the delivery that the row lacks. */
export function rowToDelivery(
  row: Row,
  { source, destination, state }: Pick<Delivery, 'source' | 'destination' | 'state'>,
): Delivery {
  const { reason, detail, settled_at: settledAt, body, trace } = row;
  return {
    id: text(row['id']),
    source,
    destination,
    messageId: text(row['message_id']),
    type: text(row['type']),
    body: body instanceof Uint8Array ? body : NO_BODY,
    orderKeys: stringsOf(row['order_keys']),
    createdAt: Number(row['created_at']),
    dueAt: Number(row['due_at']),
    state,
    progress: toProgress(row),
    ...(typeof trace === 'string' && { trace }),
    ...(typeof reason === 'string' && { reason: reason as DeadReason }), // written by writeProgress only
    ...(typeof detail === 'string' && { detail }),
    ...(typeof settledAt === 'number' && { settledAt }),
    ...((reason === 'damaged' || isDamaged(row)) && { isDamaged: true }),
  };
}

/**
 * Whether the stored delivery differs from the added one. Also true if it waits in the lane of another destination, to which
 * it would be sent.
 */
function isDamaged({
  body,
  checksum,
  message_id: messageId,
  order_keys: orderKeys,
  is_astray: isAstray,
}: Row) {
  if (!(body instanceof Uint8Array) || isAstray === 1) return true;
  return checksum !== checksumOf({ body, messageId: text(messageId), orderKeys: text(orderKeys) });
}

const NO_BODY = new Uint8Array();

function toProgress(row: Row): Progress {
  const { rounds, first_attempt_at: firstAttemptAt } = row;
  if (rounds === null || rounds === undefined) return NO_PROGRESS;
  return {
    rounds: Number(rounds),
    ...(typeof firstAttemptAt === 'number' && { firstAttemptAt }),
    attempts: readStoredJson(row['attempts'], NO_PROGRESS.attempts),
    rejectedBy: stringsOf(row['rejected_by']),
    notBefore: readStoredJson(row['not_before'], NO_PROGRESS.notBefore),
  };
}

/** Parses a list of strings. Skips parsing an empty list, which is the most common. */
function stringsOf(json: SqlValue | undefined): readonly string[] {
  return json === '[]' ? NONE : readStoredJson(json, NONE);
}

/**
 * Parses JSON that code of this folder has written. Returns `otherwise` for damaged text or NULL, so that a damaged row does
 * not block others.
 */
export function readStoredJson<T>(json: SqlValue | undefined, otherwise: T): T {
  try {
    return (JSON.parse(text(json)) as T) ?? otherwise; // written by this folder only
  } catch {
    return otherwise;
  }
}

const NONE: readonly string[] = [];

function text(value: SqlValue | undefined): string {
  return String(value);
}

/** How a delivery ended. `state` is null before it is settled. */
export interface Standing {
  readonly state: 'delivered' | 'dead' | null;
  readonly reason: DeadReason | null;
  readonly detail: string | null;
  readonly settledAt: number | null;
}

export const OPEN: Standing = { state: null, reason: null, detail: null, settledAt: null };

// An upsert instead of INSERT OR REPLACE, which removes rows without running the triggers that count them.
const WRITE_PROGRESS = `
  INSERT INTO progress VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET due_at = excluded.due_at, settled_state = excluded.settled_state,
    reason = excluded.reason, detail = excluded.detail, settled_at = excluded.settled_at, rounds = excluded.rounds,
    first_attempt_at = excluded.first_attempt_at, attempts = excluded.attempts,
    rejected_by = excluded.rejected_by, not_before = excluded.not_before`;

export function writeProgress(
  sql: Sql,
  { seq, lane, dueAt }: LaneEntry,
  progress: Progress,
  { state, reason, detail, settledAt }: Standing,
): void {
  const { rounds, firstAttemptAt = null, attempts, rejectedBy, notBefore } = progress;
  sql(WRITE_PROGRESS).run(
    seq,
    lane,
    dueAt,
    state,
    reason,
    detail,
    settledAt,
    rounds,
    firstAttemptAt,
    JSON.stringify(attempts),
    rejectedBy.length === 0 ? '[]' : JSON.stringify(rejectedBy),
    JSON.stringify(notBefore),
  );
}
