import type { Pool } from 'pg';
import { toEntry, type JobFields } from '../bullmq-job.ts';
import { COLUMN, FUNCTION, NOT_ALLOWED, TABLE } from '../bullmq-layout.ts';
import { inOneTurn, toError } from '../in-one-turn.ts';
import type { EntryLock, EntryState, Series } from '../server.ts';
import { isOfOne } from './gathered-writes.ts';
import { CALL, changeInLines, HOLD, JOIN, LEAVE, quoted } from './postgres-lines.ts';

/** A series in BullMQ's tables. Uses BullMQ's functions for many entries per statement. Each query has an index. */
export function postgresSeries(pools: Pools, series: string): Series {
  return { ...takenEntries(pools, series), ...changes(pools, series), ...lookup(pools.pool, series) };
}

interface Pools {
  readonly pool: Pool;
  /** Connections whose commits do not wait for the disk. */
  readonly swift: Pool;
}

/** An entry to settle, and the SQL statement that settles it. */
interface Settling {
  readonly lock: EntryLock;
  readonly statement: string;
}

function placedIn<T extends object>(series: string, entries: readonly T[]): (T & { series: string })[] {
  return entries.map((each) => ({ ...each, series }));
}

/** Operations on taken entries, which a lock guards. */
function takenEntries(
  { swift }: Pools,
  series: string,
): Pick<Series, 'take' | 'hold' | 'extend' | 'settle' | 'delay' | 'recover'> {
  return {
    take: async (tokens, lockMs) => {
      const values = [series, tokens, Math.ceil(lockMs), Date.now()];
      const { rows } = await swift.query<JobFields & { readonly token: string }>(TAKE, values);
      const taken = rows.map((row) => ({ entry: toEntry(row), token: row.token }));
      return {
        taken,
        nextDueAt: taken.length === tokens.length ? undefined : await nextDueIn(swift, series),
      };
    },
    hold: async (locks) => {
      const [, held = []] = await changeInLines<{ id: string }>(swift, placedIn(series, locks), [JOIN, HOLD]);
      return held.map(({ id }) => id);
    },
    extend: async (locks, lockMs) => {
      const notes = locks.map(({ note }) => (note === undefined ? null : JSON.stringify(note)));
      const { rows } = await swift.query<{ id: string }>(
        `SELECT id FROM unnest($2::text[], $3::text[], $5::jsonb[]) AS wanted (id, token, note)
          WHERE CASE WHEN ${FUNCTION.extend}($1, id, token, $4, ${NOW}) = 0 THEN true
            ELSE note IS NOT NULL AND ${FUNCTION.note}($1, id, note) < 0 END`,
        [series, locks.map(({ id }) => id), locks.map(({ token }) => token), Math.ceil(lockMs), notes],
      );
      return rows.map(({ id }) => id);
    },
    settle: settlingTogether(swift, series),
    delay: ({ id, token }, { dueAt, note }) => {
      const text = `SELECT ${FUNCTION.delay}($1, $2, $3, $4, 0, true, NULL, NULL), ${FUNCTION.note}($1, $2, $5)`;
      return isAllowed(swift.query(text, [series, id, token, Math.ceil(dueAt), JSON.stringify(note)]));
    },
    recover: async (everyMs) => {
      const text = `SELECT count(*) FROM ${FUNCTION.recover}($1, $2, ${NOW}, $3)`;
      await swift.query(text, [series, MOST_STALLS, Math.ceil(everyMs)]);
    },
  };
}

function settlingTogether(swift: Pool, series: string): Series['settle'] {
  const name = quoted(series);
  const settleTogether = (some: readonly Settling[]): Promise<unknown> => {
    const locks = some.map(({ lock }) => lock);
    const settling = some.map(({ statement }) => statement);
    return changeInLines(swift, placedIn(series, locks), [...settling, LEAVE, CALL]);
  };
  const settle = inOneTurn<Settling, boolean>(SETTLED_AT_ONCE, async (all) => {
    try {
      await settleTogether(all);
      return all.map(() => true);
    } catch (error) {
      if (!isOfOne(error)) throw error;
    }
    // Tries each entry alone, because the whole batch was rolled back and the error may concern only one entry.
    return Promise.all(all.map((one) => isAllowed(settleTogether([one])).catch(toError)));
  });
  return (lock, { note, reason }) => {
    const by = `${name}, ${quoted(lock.id)}, ${quoted(lock.token)}`;
    const json = quoted(JSON.stringify(reason === undefined ? note : [note]));
    const ends = `${json}::jsonb, ${Date.now()}, false, NULL, NULL`;
    const statement =
      reason === undefined
        ? `SELECT ${FUNCTION.complete}(${by}, ${ends})`
        : `SELECT ${FUNCTION.fail}(${by}, ${quoted(reason)}, ${ends})`;
    return settle({ lock, statement });
  };
}

function changes({ pool, swift }: Pools, series: string): Pick<Series, 'wake' | 'remove' | 'forget'> {
  const name = quoted(series);
  return {
    wake: async (state, entries) => {
      const rows = entries.map(({ id, note }, place) => ({ place, id, note: JSON.stringify(note) }));
      const waking = `SELECT CASE WHEN ${WAKINGS[state](name)} THEN ${FUNCTION.note}(${name}, id, note::jsonb) = 1 ELSE false END AS done
        FROM json_to_recordset(${quoted(JSON.stringify(rows))}) AS t (place int, id text, note text) ORDER BY place`;
      const [woken = []] = await changeInLines<{ done: boolean }>(pool, placedIn(series, entries), [
        waking,
        JOIN,
      ]);
      return woken.map(({ done }) => done);
    },
    remove: async (entries) => {
      const ids = quoted(JSON.stringify(entries.map(({ id }) => id)));
      const removing = `SELECT ${FUNCTION.remove}(${name}, id, false) = 1 AS done FROM json_array_elements_text(${ids}) WITH ORDINALITY AS t (id, place) ORDER BY place`;
      const statements = [removing, LEAVE, CALL];
      const [removed = []] = await changeInLines<{ done: boolean }>(
        pool,
        placedIn(series, entries),
        statements,
      );
      return removed.map(({ done }) => done);
    },
    forget: async (state, before) => {
      const values = [series, state, Math.floor(before), FORGOTTEN_AT_ONCE];
      const { rowCount } = await swift.query(`SELECT ${FUNCTION.forget}($1, $2, $3, $4)`, values);
      return (rowCount ?? 0) >= FORGOTTEN_AT_ONCE;
    },
  };
}

function lookup(pool: Pool, series: string): Pick<Series, 'get' | 'addedAt' | 'count' | 'ids'> {
  return {
    get: async (ids) => {
      const text = `SELECT ${COLUMNS} FROM ${WANTED}`;
      const { rows } = await pool.query<JobFields>(text, [series, ids]);
      const found = new Map(rows.map((row) => [row.id, toEntry(row)]));
      return ids.map((id) => found.get(id));
    },
    addedAt: async (ids) => {
      const text = `SELECT id, ${COLUMN.addedAt}::float8 AS at FROM ${WANTED}`;
      const { rows } = await pool.query<{ id: string; at: number }>(text, [series, ids]);
      const found = new Map(rows.map(({ id, at }) => [id, at]));
      return ids.map((id) => found.get(id));
    },
    // Counts the entries by a query of its own, because BullMQ counts them by reading every row.
    count: async (states, delayedBefore = Number.MAX_SAFE_INTEGER) => {
      const counts = states.map((state) => {
        const due = state === 'delayed' ? ` AND ${COLUMN.dueAt} < ${delayedBefore}` : '';
        return `(SELECT count(*) ${from(state)}${due})`;
      });
      const text = `SELECT ARRAY[${counts.join(', ')}] AS counts`;
      const { rows } = await pool.query<{ counts: readonly string[] }>(text, [series]);
      return (rows[0]?.counts ?? []).map(Number);
    },
    ids: async (state, start, end) => {
      const isFromEnd = start < 0;
      // Waiting and active entries are listed newest first. The last ids of a list are read in reverse, because skipping a
      // million entries takes seconds.
      const isNewestFirst = (state === 'waiting' || state === 'active') !== isFromEnd;
      const direction = isNewestFirst ? ' DESC' : '';
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id ${from(state)}
          ORDER BY ${ORDERED_BY[state]}${direction}, ${COLUMN.order}${direction} OFFSET $2 LIMIT $3`,
        isFromEnd ? [series, 0, -start] : [series, start, end === -1 ? null : end - start + 1],
      );
      const ids = rows.map(({ id }) => id);
      return isFromEnd ? ids.toReversed() : ids;
    },
  };
}

/** Maximum expired locks per entry: unlimited, because an interrupted process is no reason to give up a delivery. */
const MOST_STALLS = 2 ** 31 - 1;
const FORGOTTEN_AT_ONCE = 1_000;
const SETTLED_AT_ONCE = 100;

/** Resolves to false if BullMQ rejected the change, and rolled it back, because of the state or lock of the entry. */
async function isAllowed(act: Promise<unknown>): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === NOT_ALLOWED) return false; // an error of the driver has a code
    throw error;
  }
}

/** Columns for JobFields. Times are cast to numbers, because the driver returns 64-bit integers as text. */
const COLUMNS = `id, name, ${COLUMN.state} = 'active' AS "isLocked", data::text, ${COLUMN.addedAt}::float8 AS "addedAt", ${COLUMN.takes} AS takes,
  ${COLUMN.takenAt}::float8 AS "takenAt", ${COLUMN.settledAt}::float8 AS "settledAt", ${COLUMN.failedReason} AS "failedReason", ${COLUMN.returnvalue}::text AS returnvalue,
  ${COLUMN.stacktrace}::text, ${COLUMN.progress}::text`;

/** SQL for the server's time in ms. Locks end by it, because the clocks of processes differ. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Runs BullMQ's `moveToActive` for as many tokens as entries are ready, in one statement and thus one commit. */
const TAKE = `WITH ready AS (SELECT count(*)::int AS count FROM (
    (SELECT 1 ${from('waiting')} LIMIT cardinality($2::text[]))
    UNION ALL
    (SELECT 1 ${from('delayed')} AND ${COLUMN.dueAt} <= $4::bigint
      LIMIT cardinality($2::text[]))
  ) AS each)
  SELECT ${COLUMNS}, ${COLUMN.token} AS token
    FROM unnest(($2::text[])[1:(SELECT count FROM ready)]) WITH ORDINALITY AS t (token, place),
      LATERAL ${FUNCTION.take}($1, t.token, $3::bigint + ${NOW} - $4::bigint, $4, NULL, NULL, NULL)
   ORDER BY place`;

async function nextDueIn(pool: Pool, series: string): Promise<number | undefined> {
  const text = `SELECT min(${COLUMN.dueAt})::float8 AS due ${from('delayed')}`;
  const { rows } = await pool.query<{ due: number | null }>(text, [series]);
  return rows[0]?.due ?? undefined;
}

/** SQL that finds each id by the primary key: `id = ANY` would read the whole series until the table is analyzed. */
const WANTED = `unnest($2::text[]) AS wanted (key),
  LATERAL (SELECT * FROM ${TABLE.jobs} WHERE ${COLUMN.series} = $1 AND id = wanted.key LIMIT 1) AS found`;

/** The end of an SQL query for the entries of the series `$1` in this state. */
function from(state: EntryState): string {
  return `FROM ${TABLE.jobs} WHERE ${COLUMN.series} = $1 AND ${COLUMN.state} = '${state}'`;
}

/** SQL that makes an entry in this state wait again, by a function of BullMQ. */
const WAKINGS = {
  delayed: (name: string) => `${FUNCTION.wakeDelayed}(${name}, id) = 0`,
  failed: (name: string) => `${FUNCTION.wakeFailed}(${name}, id, 'failed', false, false, false) = 1`,
};

/** The columns by which `Series.ids` orders the entries of each state. */
const ORDERED_BY = {
  waiting: COLUMN.priority,
  active: COLUMN.takenAt,
  delayed: COLUMN.dueAt,
  completed: COLUMN.settledAt,
  failed: COLUMN.settledAt,
} satisfies Record<EntryState, string>;
