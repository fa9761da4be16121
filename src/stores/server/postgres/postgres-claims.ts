import type { Pool } from 'pg';
import { toEntry, type JobFields } from '../bullmq-job.ts';
import type { SeriesEntries } from '../bullmq-series.ts';
import type { SeriesEntry, Taken } from '../server.ts';

/** The columns of a JobRow. */
export const COLUMNS = `id, name, state = 'active' AS is_locked, data, added_at_ms, attempts_started, processed_at_ms, finished_at_ms, failed_reason, return_value,
  stacktrace, progress`;

/** What is done with entries that a process takes: BullMQ's functions, each for many entries in one statement. */
export function postgresClaims(
  swift: Pool,
  series: string,
): Pick<SeriesEntries, 'take' | 'extend' | 'recover' | 'writeNote'> {
  return {
    take: async (tokens, lockMs) => {
      const taken = await take(swift, { series, tokens, lockMs });
      const nextDueAt = taken.length === tokens.length ? undefined : await nextDueIn(swift, series);
      return { taken, nextDueAt };
    },
    extend: async (locks, lockMs) => {
      const { rows } = await swift.query<{ id: string }>(
        `SELECT id FROM unnest($2::text[], $3::text[]) AS wanted (id, token)
          WHERE extend_lock($1, id, token, $4, $5) = 0`,
        [series, locks.map(({ id }) => id), locks.map(({ token }) => token), Math.ceil(lockMs), Date.now()],
      );
      return rows.map(({ id }) => id);
    },
    recover: async (everyMs) => {
      const text = 'SELECT count(*) FROM move_stalled_jobs_to_wait($1, $2, $3, $4)';
      await swift.query(text, [series, MOST_STALLS, Date.now(), Math.ceil(everyMs)]);
    },
    writeNote: async (id, note) => {
      await swift.query('SELECT update_progress($1, $2, $3)', [series, id, JSON.stringify(note)]);
    },
  };
}

/** No entry is given up for having been interrupted too often. */
const MOST_STALLS = 2 ** 31 - 1;

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
  return rows.map((row) => ({ entry: postgresEntry(row), token: row.lock_token }));
}

async function nextDueIn(pool: Pool, series: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ due: string | null }>(
    "SELECT min(process_at_ms) AS due FROM job WHERE queue = $1 AND state = 'delayed'",
    [series],
  );
  const due = rows[0]?.due ?? undefined;
  return due === undefined ? undefined : Number(due);
}

export interface JobRow {
  readonly id: string;
  readonly name: string;
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

export function postgresEntry(row: JobRow): SeriesEntry {
  return toEntry({
    id: row.id,
    name: row.name,
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
  });
}
