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

/** The deliveries of a lane that are being added. */
interface LaneBatch {
  readonly first: Delivery;
  added: number;
  /** The claimable deliveries that are not in `waiting` yet, which have the same due time. */
  dueAt: number;
  seqs: number[];
}

/** Adds deliveries, except those with a known id. Returns the first delivery of each lane by the id of the lane. */
export function insertDeliveries(
  sql: Sql,
  deliveries: readonly Delivery[],
  lanes: LaneRows,
): ReadonlyMap<number, Delivery> {
  const batches = new Map<number, LaneBatch>();
  for (const delivery of deliveries) {
    const lane = lanes.findOrMake(sql, delivery);
    const { dueAt } = delivery;
    const batch = batches.get(lane) ?? { first: delivery, added: 0, dueAt, seqs: [] };
    batches.set(lane, batch);
    const inserted = insertDelivery(sql, delivery, lane);
    if (inserted === undefined) continue;
    batch.added++;
    if (!inserted.waits) continue;
    if (batch.dueAt !== dueAt) {
      waitAll(sql, lane, batch);
      [batch.dueAt, batch.seqs] = [dueAt, []];
    }
    batch.seqs.push(inserted.seq);
  }
  for (const [lane, batch] of batches) {
    waitAll(sql, lane, batch);
    // Counted here, because a trigger per row would cost as much as an index.
    sql('UPDATE lane_counts SET deliveries = deliveries + ? WHERE lane = ?').run(batch.added, lane);
  }
  return new Map([...batches].map(([lane, { first }]) => [lane, first]));
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
