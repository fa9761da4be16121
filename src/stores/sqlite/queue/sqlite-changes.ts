import { NO_PROGRESS, type Progress } from '../../../queue/delivery.ts';
import {
  blockedDueResult,
  blockedRetryResult,
  type DropResult,
  type DueResult,
  type RetryResult,
} from '../../../queue/inspection.ts';
import type { Row } from '../file/sqlite.ts';
import type { Sql } from '../file/store.ts';
import { join, leave, leaveAllLines, stopWaiting, wait, type LaneEntry } from './sqlite-lines.ts';
import { OPEN, readDelivery, SELECT_DELIVERIES, STATE, WITH_STATE, writeProgress } from './sqlite-rows.ts';

export function findDeliveryRow(sql: Sql, id: string): Row | undefined {
  return sql(`${SELECT_DELIVERIES} WHERE d.id = ?`).get(id);
}

/** Marks a delivery damaged. Finds it by its seq, because its id may be damaged too. */
export function markDeliveryDamaged(sql: Sql, seq: number, now: number): void {
  const row = sql(`${SELECT_DELIVERIES} WHERE d.seq = ?`).get(seq);
  if (row === undefined) return;
  const { state, dueAt, progress, detail = null, settledAt = now } = readDelivery(row);
  if (state === 'sending' || state === 'delivered') return;
  const place = { seq, lane: Number(row['lane']), dueAt };
  leaveAllLines(sql, place);
  writeProgress(sql, place, progress, { state: 'dead', reason: 'damaged', detail, settledAt });
}

export function retryDelivery(sql: Sql, id: string, now: number): RetryResult {
  const row = findDeliveryRow(sql, id);
  if (row === undefined) return 'unknown';
  const delivery = readDelivery(row);
  const blocked = blockedRetryResult(delivery);
  if (blocked !== undefined) return blocked;
  const seq = moveToEnd(sql, Number(row['seq']), now);
  const place = { seq, lane: Number(row['lane']), dueAt: now };
  const { attempts } = delivery.progress;
  if (attempts.length > 0) writeProgress(sql, place, { ...NO_PROGRESS, attempts }, OPEN);
  join(sql, place, delivery.orderKeys);
  return 'retried';
}

export function makeDeliveryDue(sql: Sql, id: string, now: number): DueResult {
  const row = findDeliveryRow(sql, id);
  if (row === undefined) return 'unknown';
  const delivery = readDelivery(row);
  const blocked = blockedDueResult(delivery);
  if (blocked !== undefined) return blocked;
  const { dueAt, progress } = delivery;
  const place = { seq: Number(row['seq']), lane: Number(row['lane']), dueAt };
  reschedule(sql, place, { dueAt: now, progress: { ...progress, notBefore: {} } });
  return 'due';
}

/** Changes a delivery so that it waits for another round at `dueAt`. */
export function reschedule(
  sql: Sql,
  place: LaneEntry,
  { dueAt, progress }: { readonly dueAt: number; readonly progress: Progress },
): void {
  stopWaiting(sql, place);
  wait(sql, { ...place, dueAt });
  writeProgress(sql, { ...place, dueAt }, progress, OPEN);
}

/** Gives a delivery the seq of one that is added now, because later deliveries with its order keys may be in flight. */
function moveToEnd(sql: Sql, seq: number, now: number): number {
  sql('DELETE FROM progress WHERE seq = ?').run(seq);
  const row = sql(
    'UPDATE deliveries SET seq = (SELECT max(seq) + 1 FROM deliveries), due_at = ? WHERE seq = ? RETURNING seq',
  ).get(now, seq);
  return Number(row?.['seq']);
}

/** Removes deliveries, except those in flight. One statement removes all, because a statement costs more than a row. */
export function dropDeliveryRows(sql: Sql, ids: readonly string[]): readonly DropResult[] {
  const found = new Map(
    sql(PLACES)
      .all(JSON.stringify(ids))
      .map((row) => [String(row['id']), row]),
  );
  const seqs: number[] = [];
  const results = ids.map((id): DropResult => {
    const row = found.get(id);
    if (row === undefined) return 'unknown';
    if (row['state'] === 'sending') return 'sending';
    found.delete(id);
    if (row['is_settled'] === 0) leaveLines(sql, id, row);
    seqs.push(Number(row['seq']));
    return 'dropped';
  });
  sql('DELETE FROM deliveries WHERE seq IN (SELECT value FROM json_each(?))').run(JSON.stringify(seqs));
  return results;
}

/**
 * Removes a delivery from its lane and the lines of its order keys. If it is damaged, looks for it in all lines, because its
 * order keys cannot be trusted.
 */
function leaveLines(sql: Sql, id: string, row: Row): void {
  const place = { seq: Number(row['seq']), lane: Number(row['lane']), dueAt: Number(row['due_at']) };
  const stored = findDeliveryRow(sql, id);
  const delivery = stored === undefined ? undefined : readDelivery(stored);
  if (delivery === undefined || delivery.isDamaged) leaveAllLines(sql, place);
  else leave(sql, place, delivery.orderKeys);
}

const PLACES = `
  SELECT d.id, d.seq, d.lane, coalesce(p.due_at, d.due_at) AS due_at,
    p.settled_state IS NOT NULL AS is_settled, ${STATE}
  FROM json_each(?) i CROSS JOIN deliveries d ON d.id = i.value ${WITH_STATE}`;
