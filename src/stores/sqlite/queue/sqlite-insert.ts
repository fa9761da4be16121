import type { Sql } from '../file/store.ts';
import { checksumOf } from '../../../queue/checksum.ts';
import { isUntried, type Delivery } from '../../../queue/delivery.ts';
import { lineUp } from './sqlite-lines.ts';
import { OPEN, writeProgress } from './sqlite-rows.ts';

/** Adds a delivery, unless its id is known. Returns its seq if it may be claimed; the caller then passes it to `waitAll`. */
export function insertDelivery(sql: Sql, delivery: Delivery, lane: number): number | undefined {
  const { id, messageId, type, orderKeys, createdAt, dueAt, body, state, progress, trace = null } = delivery;
  const keys = orderKeys.length === 0 ? '[]' : JSON.stringify(orderKeys);
  const checksum = checksumOf({ body, messageId, orderKeys: keys });
  const { changes, lastInsertRowid } = sql(
    `INSERT INTO deliveries (id, lane, message_id, type, order_keys, created_at, due_at, body, checksum, trace)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  ).run(id, lane, messageId, type, keys, createdAt, dueAt, body, checksum, trace);
  if (Number(changes) === 0) return undefined;
  const place = { lane, dueAt, seq: Number(lastInsertRowid) };
  if (state === 'dead') {
    const { reason = null, detail = null, settledAt = createdAt } = delivery;
    writeProgress(sql, place, progress, { state, reason, detail, settledAt });
    return undefined;
  }
  if (!isUntried(progress)) writeProgress(sql, place, progress, OPEN);
  return lineUp(sql, place, orderKeys) ? undefined : place.seq;
}
