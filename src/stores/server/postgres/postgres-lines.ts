import type { Pool, QueryResult } from 'pg';
import { ENTRY_PREFIX, HELD_UNTIL, type InLines } from '../server.ts';

/** An entry with its series, and the token of its lock if it has one. */
export type Placed = InLines & { readonly series: string; readonly token?: string };

/** Text as an SQL literal, because several statements in one request cannot have parameters. */
export function quoted(text: string | undefined): string {
  return text === undefined ? 'NULL' : `'${text.replaceAll("'", "''")}'`;
}

/**
 * Changes entries together with their lines in one request, which is a transaction. Returns the rows of each statement.
 * Locks the lines first, so that each statement sees earlier commits, and `seq` numbers are visible in the order in which
 * they were assigned. The table of lines has a row for each entry in a line.
 */
export async function changeInLines<T extends object>(
  pool: Pool,
  entries: readonly Placed[],
  statements: readonly string[],
): Promise<readonly (readonly T[])[]> {
  const rows = entries.flatMap(({ series, id: entry, token = '', lines = [] }) =>
    lines.map((line) => ({ line, id: entry.slice(ENTRY_PREFIX.length), series, entry, token })),
  );
  const json = quoted(JSON.stringify(rows.map((row, place) => ({ ...row, place }))));
  const wanted = `WITH wanted AS (SELECT * FROM json_to_recordset(${json})
    AS t (place int, line text, id text, series text, entry text, token text)) `;
  const own = statements.filter((each) => rows.length > 0 || !OF_LINES.has(each));
  const texts = [...(rows.length > 0 ? [LOCK] : []), ...own].map((each) =>
    OF_LINES.has(each) ? wanted + each : each,
  );
  const result = (await pool.query(texts.join(';\n'))) as unknown; // a list if there are several statements
  const results = (Array.isArray(result) ? result : [result]) as readonly QueryResult<T>[];
  return results.slice(texts.length - own.length).map(({ rows: found }) => found);
}

const LOCK =
  'SELECT pg_advisory_xact_lock(hashtext(line)) FROM (SELECT DISTINCT line FROM wanted ORDER BY line) AS t';

/** SQL for whether an entry exists unsettled: one index lookup, whatever the planner expects. */
const isThere = (entry: string): string =>
  `coalesce((SELECT finished_at_ms IS NULL FROM job WHERE queue = wanted.series AND job.id = ${entry}), false)`;

/** SQL for the first id of a line. Skips ids whose entries a person has deleted. */
const FIRST = `(SELECT l.id FROM hooks_lines AS l WHERE l.line = wanted.line AND ${isThere(`'${ENTRY_PREFIX}' || l.id`)}
  ORDER BY seq LIMIT 1)`;

const joinIf = (isMeant: string): string => `INSERT INTO hooks_lines (line, id)
  SELECT line, id FROM wanted WHERE NOT EXISTS (SELECT FROM hooks_lines AS l WHERE l.line = wanted.line AND l.id = wanted.id)
    AND ${isMeant} ORDER BY place`;

/**
 * Appends the ids of new entries to their lines. Runs before the entries are inserted, and skips entries that exist already.
 */
export const JOIN_NEW = joinIf('NOT EXISTS (SELECT FROM job WHERE queue = series AND job.id = entry)');
export const JOIN = joinIf(isThere('entry'));

/**
 * Delays entries that are not first in all of their lines, as if they had not been taken, and returns the ids of these
 * entries.
 */
export const HOLD = `UPDATE job SET state = 'delayed', process_at_ms = ${HELD_UNTIL}, lock_token = NULL, locked_until_ms = NULL,
    attempts_started = attempts_started - (state = 'active')::int
  FROM wanted WHERE job.queue = series AND job.id = entry AND coalesce(lock_token, '') = token AND job.state IN ('waiting', 'active')
    AND ${FIRST} <> wanted.id
  RETURNING job.id`;

/** Removes settled and deleted entries from their lines. */
export const LEAVE = `DELETE FROM hooks_lines AS l USING wanted WHERE l.line = wanted.line AND l.id = wanted.id AND NOT ${isThere('entry')}`;

/** Makes held entries wait again if they are now first in their lines. */
export const CALL = `SELECT promote(series, called) FROM (SELECT DISTINCT series, '${ENTRY_PREFIX}' || ${FIRST} AS called FROM wanted) AS t
  WHERE EXISTS (SELECT FROM job WHERE queue = series AND job.id = called AND state = 'delayed' AND process_at_ms >= ${HELD_UNTIL})`;

const OF_LINES: ReadonlySet<string> = new Set([LOCK, JOIN_NEW, JOIN, HOLD, LEAVE, CALL]);
