import type { Pool } from 'pg';
import { toEntry, type JobFields } from '../bullmq-job.ts';
import type { EntryLookup } from '../bullmq-series.ts';
import type { EntryState } from '../server.ts';

/** BullMQ's tables have an index for each question: what is known of many ids is asked for by one. */
export function postgresLookup(
  { pool, swift }: { readonly pool: Pool; readonly swift: Pool },
  series: string,
): EntryLookup {
  return {
    fields: async (ids) => {
      const { rows } = await pool.query<JobRow>(
        `SELECT ${COLUMNS} FROM job WHERE queue = $1 AND id = ANY($2)`,
        [series, ids],
      );
      const found = new Map(rows.map((row) => [row.id, toFields(row)]));
      return ids.map((id) => found.get(id));
    },
    states: async (ids) => {
      const { rows } = await pool.query<{ state: EntryState | null }>(
        `SELECT state FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, place)
           LEFT JOIN job ON job.queue = $1 AND job.id = wanted.id ORDER BY place`,
        [series, ids],
      );
      return rows.map(({ state }) => state ?? undefined);
    },
    take: async (tokens, _open, lockMs) => {
      const { rows } = await swift.query<JobRow & { readonly lock_token: string }>(TAKE, [
        series,
        tokens,
        Math.ceil(lockMs),
        Date.now(),
      ]);
      return {
        taken: rows.map((row) => ({ entry: toEntry(toFields(row)), token: row.lock_token })),
        nextDueAt: rows.length === tokens.length ? undefined : await nextDueIn(pool, series),
      };
    },
    count: async (states, delayedBefore) => {
      const counts = states.map((state) =>
        state === 'delayed' && delayedBefore !== undefined
          ? `(${COUNT} AND state = 'delayed' AND process_at_ms < ${delayedBefore})`
          : `(${COUNT} AND state = '${state}')`,
      );
      const { rows } = await pool.query<{ counts: readonly string[] }>(
        `SELECT ARRAY[${counts.join(', ')}] AS counts`,
        [series],
      );
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
      const { rows } = await pool.query<{ id: string; added_at_ms: string }>(
        'SELECT id, added_at_ms FROM job WHERE queue = $1 AND id = ANY($2)',
        [series, ids],
      );
      const found = new Map(rows.map((row) => [row.id, Number(row.added_at_ms)]));
      return ids.map((id) => found.get(id));
    },
    promote: async (ids) => {
      await pool.query(
        'SELECT promote($1, id) FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, place) ORDER BY place',
        [series, ids],
      );
    },
  };
}

const COLUMNS = `id, data, added_at_ms, attempts_started, processed_at_ms, finished_at_ms, failed_reason, return_value,
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

async function nextDueIn(pool: Pool, series: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ due: string | null }>(
    "SELECT min(process_at_ms) AS due FROM job WHERE queue = $1 AND state = 'delayed'",
    [series],
  );
  const due = rows[0]?.due ?? undefined;
  return due === undefined ? undefined : Number(due);
}

/** BullMQ's own count reads every row. An index has those of each state. */
const COUNT = 'SELECT count(*) FROM job WHERE queue = $1';

/** As `Series.ids` says. */
const ORDERS = {
  waiting: 'priority DESC, seq DESC',
  active: 'processed_at_ms DESC, seq DESC',
  delayed: 'process_at_ms, seq',
  completed: 'finished_at_ms, seq',
  failed: 'finished_at_ms, seq',
} satisfies Record<EntryState, string>;

interface JobRow {
  readonly id: string;
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
