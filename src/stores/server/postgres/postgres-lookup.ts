import type { Pool } from 'pg';
import { toEntry, type JobFields } from '../bullmq-job.ts';
import type { EntryLookup } from '../bullmq-series.ts';
import type { EntryState, Taken } from '../server.ts';

/** BullMQ's tables have an index for each question: what is known of many ids is asked for by one. */
export function postgresLookup(
  { pool, swift }: { readonly pool: Pool; readonly swift: Pool },
  series: string,
): EntryLookup {
  const fields: EntryLookup['fields'] = (ids) => readFields(pool, series, ids);
  return {
    fields,
    fieldsToRemove: fields,
    take: async (tokens, _open, lockMs) => {
      const taken = await take(swift, { series, tokens, lockMs });
      const nextDueAt = taken.length === tokens.length ? undefined : await nextDueIn(pool, series);
      return { taken, nextDueAt };
    },
    count: async (states, delayedBefore) => {
      const counts = states.map((state) => countOf(state, delayedBefore)).join(', ');
      const text = `SELECT ARRAY[${counts}] AS counts`;
      const { rows } = await pool.query<{ counts: readonly string[] }>(text, [series]);
      return (rows[0]?.counts ?? []).map(Number);
    },
    ids: async (state, start, end) => {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM job WHERE queue = $1 AND state = '${state}' ORDER BY ${ORDERS[state]} OFFSET $2 LIMIT $3`,
        [series, start, end === -1 ? null : end - start + 1],
      );
      return rows.map(({ id }) => id);
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

async function readFields(
  pool: Pool,
  series: string,
  ids: readonly string[],
): Promise<readonly (JobFields | undefined)[]> {
  const text = `SELECT ${COLUMNS} FROM job WHERE queue = $1 AND id = ANY($2)`;
  const { rows } = await pool.query<JobRow>(text, [series, ids]);
  const found = new Map(rows.map((row) => [row.id, toFields(row)]));
  return ids.map((id) => found.get(id));
}

const COLUMNS = `id, state = 'active' AS is_locked, data, added_at_ms, attempts_started, processed_at_ms, finished_at_ms, failed_reason, return_value,
  stacktrace, progress`;

/** What BullMQ's \`moveToActive\` runs, for as many tokens as entries are ready: in one statement, and so in one commit. */
const TAKE = `WITH ready AS (SELECT count(*)::int AS count FROM (
    (SELECT 1 FROM job WHERE queue = $1 AND state = 'waiting' LIMIT cardinality($2::text[]))
    UNION ALL
    (SELECT 1 FROM job WHERE queue = $1 AND state = 'delayed' AND process_at_ms <= $4::bigint
      LIMIT cardinality($2::text[]))
  ) AS each)
  SELECT ${COLUMNS}, lock_token
    FROM unnest(($2::text[])[1:(SELECT count FROM ready)]) WITH ORDINALITY AS t (token, place),
      LATERAL move_to_active($1, t.token, $3, $4, NULL, NULL, NULL)
   ORDER BY place`;

async function take(
  pool: Pool,
  {
    series,
    tokens,
    lockMs,
  }: { readonly series: string; readonly tokens: readonly string[]; readonly lockMs: number },
): Promise<Taken['taken']> {
  const { rows } = await pool.query<JobRow & { readonly lock_token: string }>(TAKE, [
    series,
    tokens,
    Math.ceil(lockMs),
    Date.now(),
  ]);
  return rows.map((row) => ({ entry: toEntry(toFields(row)), token: row.lock_token }));
}

async function nextDueIn(pool: Pool, series: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ due: string | null }>(
    "SELECT min(process_at_ms) AS due FROM job WHERE queue = $1 AND state = 'delayed'",
    [series],
  );
  const due = rows[0]?.due ?? undefined;
  return due === undefined ? undefined : Number(due);
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

/** The orders in which `Series.ids` lists entries. */
const ORDERS = {
  waiting: 'priority DESC, seq DESC',
  active: 'processed_at_ms DESC, seq DESC',
  delayed: 'process_at_ms, seq',
  completed: 'finished_at_ms, seq',
  failed: 'finished_at_ms, seq',
} satisfies Record<EntryState, string>;

interface JobRow {
  readonly id: string;
  readonly is_locked: boolean;
  readonly data: unknown;
  readonly added_at_ms: string;
  readonly attempts_started: number;
  readonly processed_at_ms: string | null;
  readonly finished_at_ms: string | null;
  readonly failed_reason: string | null;
  readonly return_value: unknown;
  readonly stacktrace: unknown;
  readonly progress: JobFields['progress'] | null;
}

function toFields(row: JobRow): JobFields {
  return {
    id: row.id,
    isLocked: row.is_locked,
    data: JSON.stringify(row.data),
    timestamp: Number(row.added_at_ms),
    attemptsStarted: row.attempts_started,
    ...(row.processed_at_ms !== null && { processedOn: Number(row.processed_at_ms) }),
    ...(row.finished_at_ms !== null && { finishedOn: Number(row.finished_at_ms) }),
    failedReason: row.failed_reason ?? '',
    returnvalue: JSON.stringify(row.return_value),
    stacktrace: JSON.stringify(row.stacktrace),
    progress: row.progress ?? 0,
  };
}
