import type { Sql } from '../file/store.ts';
import { checksumOf } from '../../../queue/checksum.ts';
import { isUntried, type Delivery } from '../../../queue/delivery.ts';
import type { LaneRows } from './lane-rows.ts';
import { lineUp, waitAll } from './sqlite-lines.ts';
import { OPEN, writeProgress } from './sqlite-rows.ts';

interface Inserted {
  readonly seq: number;
  /** Whether the delivery can be claimed when it is due. */
  readonly waits: boolean;
}

/** Adds deliveries, except those with a known id. Returns a delivery of each lane by the id of the lane. */
export function insertDeliveries(
  sql: Sql,
  deliveries: readonly Delivery[],
  lanes: LaneRows,
): ReadonlyMap<number, Delivery> {
  const waiting: number[] = [];
  const added = new Map<number, number>();
  const found = new Map<number, Delivery>();
  for (const delivery of deliveries) {
    const lane = lanes.findOrMake(sql, delivery);
    const inserted = insertDelivery(sql, delivery, lane);
    if (inserted !== undefined) added.set(lane, (added.get(lane) ?? 0) + 1);
    if (inserted?.waits) waiting.push(inserted.seq);
    found.set(lane, delivery);
  }
  waitAll(sql, waiting);
  countAdded(sql, added);
  return found;
}

/** Adds a delivery. Returns undefined if its id is known. */
function insertDelivery(sql: Sql, delivery: Delivery, lane: number): Inserted | undefined {
  const { id, messageId, type, orderKeys, createdAt, dueAt, body, state, progress, trace = null } = delivery;
  const keys = orderKeys.length === 0 ? '[]' : JSON.stringify(orderKeys);
  const checksum = checksumOf({ body, messageId, orderKeys: keys });
  // Node 22 binds a view of an empty ArrayBuffer as NULL.
  const { changes, lastInsertRowid } = sql(
    `INSERT INTO deliveries (id, lane, message_id, type, order_keys, created_at, due_at, body, checksum, trace)
     VALUES (?, ?, ?, ?, ?, ?, ?, coalesce(?, x''), ?, ?) ON CONFLICT (id) DO NOTHING`,
  ).run(id, lane, messageId, type, keys, createdAt, dueAt, body, checksum, trace);
  if (Number(changes) === 0) return undefined;
  const place = { lane, dueAt, seq: Number(lastInsertRowid) };
  if (state === 'dead') {
    const { reason = null, detail = null, settledAt = createdAt } = delivery;
    writeProgress(sql, place, progress, { state, reason, detail, settledAt });
    return { seq: place.seq, waits: false };
  }
  if (!isUntried(progress)) writeProgress(sql, place, progress, OPEN);
  return { seq: place.seq, waits: !lineUp(sql, place, orderKeys) };
}

/**
 * Adds to the counters of lanes: `added` has the number of added deliveries by lane. A trigger per row would cost as much as
 * an index.
 */
function countAdded(sql: Sql, added: ReadonlyMap<number, number>): void {
  for (const [lane, count] of added) {
    sql('UPDATE lane_counts SET deliveries = deliveries + ? WHERE lane = ?').run(count, lane);
  }
}
