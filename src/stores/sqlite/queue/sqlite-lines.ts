import type { Sql } from '../file/store.ts';

/** The columns that identify a delivery in the table `waiting`. */
export interface LaneEntry {
  readonly lane: number;
  readonly dueAt: number;
  readonly seq: number;
}

/** Puts a delivery behind the earlier deliveries with its order keys. If there are none, makes it claimable. */
export function join(sql: Sql, place: LaneEntry, orderKeys: readonly string[]): void {
  if (!lineUp(sql, place, orderKeys)) wait(sql, place);
}

/** Puts a delivery into the lines of its order keys. Returns whether an earlier delivery holds it back. */
export function lineUp(sql: Sql, { lane, dueAt, seq }: LaneEntry, orderKeys: readonly string[]): boolean {
  let heldBy = 0;
  for (const key of distinct(orderKeys)) {
    if (sql('SELECT 1 FROM order_lines WHERE lane = ? AND order_key = ? LIMIT 1').get(lane, key)) heldBy++;
    sql('INSERT INTO order_lines VALUES (?, ?, ?)').run(lane, key, seq);
  }
  if (heldBy > 0) sql('INSERT INTO held VALUES (?, ?, ?, ?)').run(seq, lane, dueAt, heldBy);
  return heldBy > 0;
}

/**
 * Removes a delivery from its lane and the lines of its order keys. Makes deliveries claimable that are now first in all
 * their lines, and returns whether there was one.
 */
export function leave(sql: Sql, place: LaneEntry, orderKeys: readonly string[]): boolean {
  stopWaiting(sql, place);
  let isFreed = false;
  for (const key of distinct(orderKeys)) isFreed = leaveLine(sql, place, key) || isFreed;
  return isFreed;
}

/** Removes a delivery from every line that has it: its own order keys are damaged and do not tell in which lines it is. */
export function leaveAllLines(sql: Sql, place: LaneEntry): boolean {
  stopWaiting(sql, place);
  let isFreed = false;
  for (const { lane, order_key: key } of sql('SELECT lane, order_key FROM order_lines WHERE seq = ?').all(
    place.seq,
  )) {
    isFreed = leaveLine(sql, { ...place, lane: Number(lane) }, String(key)) || isFreed;
  }
  return isFreed;
}

/** Whether an earlier delivery with the same order key holds back any delivery of the file. */
export function hasHeld(sql: Sql): boolean {
  return sql('SELECT 1 FROM held LIMIT 1').get() !== undefined;
}

export function wait(sql: Sql, { lane, dueAt, seq }: LaneEntry): void {
  sql('INSERT INTO waiting VALUES (?, ?, ?)').run(lane, dueAt, seq);
}

/** Makes deliveries of a lane claimable at `dueAt`. One statement for all, because a statement costs more than a row. */
export function waitAll(
  sql: Sql,
  lane: number,
  { dueAt, seqs }: { readonly dueAt: number; readonly seqs: readonly number[] },
): void {
  if (seqs.length === 0) return;
  sql('INSERT INTO waiting SELECT ?, ?, value FROM json_each(?)').run(lane, dueAt, JSON.stringify(seqs));
}

export function stopWaiting(sql: Sql, { lane, dueAt, seq }: LaneEntry): void {
  const { changes } = sql('DELETE FROM waiting WHERE lane = ? AND due_at = ? AND seq = ?').run(
    lane,
    dueAt,
    seq,
  );
  if (Number(changes) === 0) sql('DELETE FROM held WHERE seq = ?').run(seq);
}

function leaveLine(sql: Sql, { lane, seq }: LaneEntry, key: string): boolean {
  sql('DELETE FROM order_lines WHERE lane = ? AND order_key = ? AND seq = ?').run(lane, key, seq);
  const first = sql('SELECT min(seq) AS seq FROM order_lines WHERE lane = ? AND order_key = ?').get(
    lane,
    key,
  )?.['seq'];
  // Only a delivery that was first in the line has held back the next one.
  return typeof first === 'number' && first > seq && advance(sql, first);
}

function advance(sql: Sql, seq: number): boolean {
  const row = sql('UPDATE held SET held_by = held_by - 1 WHERE seq = ? RETURNING held_by, lane, due_at').get(
    seq,
  );
  if (row?.['held_by'] !== 0) return false;
  sql('DELETE FROM held WHERE seq = ?').run(seq);
  wait(sql, { lane: Number(row['lane']), dueAt: Number(row['due_at']), seq });
  return true;
}

/** Returns the keys as stored, without duplicates, because a delivery that is in a line twice would wait for itself. */
function distinct(keys: readonly string[]): Iterable<string> {
  return new Set(keys.map(storable));
}

/** Escapes a key that has a NUL, because some drivers cut a text there. */
function storable(key: string): string {
  return key.includes('\0') ? JSON.stringify(key) : key;
}
