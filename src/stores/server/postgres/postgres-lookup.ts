import type { Pool } from 'pg';
import type { SeriesEntries } from '../bullmq-series.ts';
import type { EntryState, SeriesEntry } from '../server.ts';
import { COLUMNS, postgresClaims, postgresEntry, type JobRow } from './postgres-claims.ts';

/** BullMQ's tables have an index for each question: what is known of many ids is asked for by one. */
export function postgresLookup(
  { pool, swift }: { readonly pool: Pool; readonly swift: Pool },
  series: string,
): SeriesEntries {
  const get: SeriesEntries['get'] = (ids) => readEntries(pool, series, ids);
  return {
    get,
    getToChange: get,
    ...postgresClaims(swift, series),
    count: async (states, delayedBefore) => {
      const counts = states.map((state) => countOf(state, delayedBefore)).join(', ');
      const text = `SELECT ARRAY[${counts}] AS counts`;
      const { rows } = await pool.query<{ counts: readonly string[] }>(text, [series]);
      return (rows[0]?.counts ?? []).map(Number);
    },
    ids: async (state, start, end) => {
      const [order, backwards] = ORDERS[state];
      const isFromEnd = start < 0;
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM job WHERE queue = $1 AND state = '${state}'
          ORDER BY ${isFromEnd ? backwards : order} OFFSET $2 LIMIT $3`,
        isFromEnd ? [series, 0, -start] : [series, start, end === -1 ? null : end - start + 1],
      );
      const ids = rows.map(({ id }) => id);
      return isFromEnd ? ids.toReversed() : ids;
    },
    remove: async (ids) => {
      const { rows } = await pool.query<{ removed: number }>(
        `SELECT remove($1, id, false) AS removed
           FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, place) ORDER BY place`,
        [series, ids],
      );
      return rows.map(({ removed }) => removed === 1);
    },
    addedAt: async (ids) => {
      const text = 'SELECT id, added_at_ms FROM job WHERE queue = $1 AND id = ANY($2)';
      const { rows } = await pool.query<{ id: string; added_at_ms: string }>(text, [series, ids]);
      const found = new Map(rows.map((row) => [row.id, Number(row.added_at_ms)]));
      return ids.map((id) => found.get(id));
    },
    wake: async (state, entries) => {
      const notes = entries.map(({ note }) => (note === undefined ? null : JSON.stringify(note)));
      const { rows } = await pool.query<{ woken: boolean }>(
        `SELECT CASE WHEN ${WAKINGS[state]} THEN note IS NULL OR update_progress($1, id, note) = 1 ELSE false END AS woken
           FROM unnest($2::text[], $3::jsonb[]) WITH ORDINALITY AS wanted (id, note, place) ORDER BY place`,
        [series, entries.map(({ id }) => id), notes],
      );
      return rows.map(({ woken }) => woken);
    },
  };
}

async function readEntries(
  pool: Pool,
  series: string,
  ids: readonly string[],
): Promise<readonly (SeriesEntry | undefined)[]> {
  const text = `SELECT ${COLUMNS} FROM job WHERE queue = $1 AND id = ANY($2)`;
  const { rows } = await pool.query<JobRow>(text, [series, ids]);
  const found = new Map(rows.map((row) => [row.id, postgresEntry(row)]));
  return ids.map((id) => found.get(id));
}

/** Counts the entries of a state over its index: BullMQ's own count reads every row. */
function countOf(state: EntryState, delayedBefore: number | undefined): string {
  const isCut = state === 'delayed' && delayedBefore !== undefined;
  const due = isCut ? ` AND process_at_ms < ${delayedBefore}` : '';
  return `(SELECT count(*) FROM job WHERE queue = $1 AND state = '${state}'${due})`;
}

/** What BullMQ runs to have an entry of that state wait. */
const WAKINGS = {
  delayed: 'promote($1, id) = 0',
  failed: "reprocess_job($1, id, 'failed', false, false, false) = 1",
};

/** The orders in which `Series.ids` lists entries, and those from the end: to skip a million entries takes seconds. */
const ORDERS = {
  waiting: ['priority DESC, seq DESC', 'priority, seq'],
  active: ['processed_at_ms DESC, seq DESC', 'processed_at_ms, seq'],
  delayed: ['process_at_ms, seq', 'process_at_ms DESC, seq DESC'],
  completed: ['finished_at_ms, seq', 'finished_at_ms DESC, seq DESC'],
  failed: ['finished_at_ms, seq', 'finished_at_ms DESC, seq DESC'],
} satisfies Record<EntryState, readonly [string, string]>;
