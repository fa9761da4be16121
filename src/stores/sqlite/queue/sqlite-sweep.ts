import type { Sql, Store } from '../file/store.ts';

/**
 * Makes deliveries claimable again that damaged tables have hidden from claims, and returns their number. Checking takes
 * 0.15 s for a million deliveries; a repair reads all tables.
 */
export async function sweepDeliveries(store: Store): Promise<number> {
  const isWhole = await store.read((sql) => sql(IS_WHOLE).get()?.['is_whole'] === 1);
  return isWhole ? 0 : store.write(repair);
}

function repair(sql: Sql): number {
  for (const statement of PUT_BACK) sql(statement).run();
  const { changes } = sql(COUNT_HOLDERS).run();
  for (const statement of RELEASE) sql(statement).run();
  return Number(changes);
}

// Reads only indexes, because the tables are 30 times as large.
const ALL = 'SELECT seq FROM deliveries INDEXED BY deliveries_created';
const SETTLED = 'SELECT seq FROM progress INDEXED BY progress_settled WHERE settled_state IS NOT NULL';
const UNSETTLED = `${ALL} EXCEPT ${SETTLED}`;
const NAMED = 'SELECT seq FROM waiting UNION ALL SELECT seq FROM held';

/**
 * Whether each unsettled delivery is exactly once in `waiting` or `held`, `held_by` counts the lines in which another
 * delivery is first, all lines contain only unsettled deliveries, and every lane exists.
 */
const IS_WHOLE = `
  SELECT (SELECT sum(seq) FROM (${ALL})) IS (SELECT sum(seq) FROM (${SETTLED} UNION ALL ${NAMED}))
    AND (SELECT coalesce(sum(held_by), 0) FROM held)
      = (SELECT count(*) FROM order_lines) - (SELECT count(*) FROM (SELECT DISTINCT lane, order_key FROM order_lines))
    AND NOT EXISTS (SELECT seq FROM order_lines EXCEPT SELECT seq FROM (${NAMED}))
    AND NOT EXISTS (SELECT 1 FROM waiting WHERE lane NOT IN (SELECT lane FROM lanes)) AS is_whole`;

/**
 * SQL that removes invalid rows, such as duplicates, from `waiting`, `held` and `order_lines`. Deliveries that are in
 * neither `waiting` nor `held` are added to `held`, with a `held_by` that COUNT_HOLDERS corrects, and to the lines of their
 * order keys.
 */
const PUT_BACK = [
  `DELETE FROM waiting WHERE (lane, due_at, seq) IN (
    SELECT lane, due_at, seq FROM (SELECT *, row_number() OVER (PARTITION BY seq ORDER BY due_at) AS nth FROM waiting)
    WHERE nth > 1 OR lane NOT IN (SELECT lane FROM lanes) OR seq NOT IN (${UNSETTLED}))`,
  `DELETE FROM held WHERE seq IN (SELECT seq FROM waiting) OR seq NOT IN (${UNSETTLED})`,
  `INSERT INTO held SELECT d.seq, d.lane, coalesce(p.due_at, d.due_at), -1
    FROM (${UNSETTLED} EXCEPT SELECT seq FROM (${NAMED})) lost
    CROSS JOIN deliveries d ON d.seq = lost.seq LEFT JOIN progress p ON p.seq = d.seq`,
  `INSERT OR IGNORE INTO order_lines SELECT d.lane, k.value, d.seq
    FROM held h CROSS JOIN deliveries d ON d.seq = h.seq
    CROSS JOIN json_each(iif(json_valid(d.order_keys), d.order_keys, '[]')) k WHERE h.held_by = -1`,
  `DELETE FROM order_lines WHERE seq NOT IN (${NAMED})`,
];

const COUNT_HOLDERS = `
  UPDATE held SET held_by = actual.held_by FROM (
    SELECT h.seq, count(first) FILTER (WHERE first < h.seq) AS held_by FROM held h
    LEFT JOIN (SELECT seq, min(seq) OVER (PARTITION BY lane, order_key) AS first FROM order_lines) o ON o.seq = h.seq
    GROUP BY h.seq) actual
  WHERE actual.seq = held.seq AND actual.held_by <> held.held_by`;

const RELEASE = [
  'INSERT INTO waiting SELECT lane, due_at, seq FROM held WHERE held_by = 0',
  'DELETE FROM held WHERE held_by = 0',
];
