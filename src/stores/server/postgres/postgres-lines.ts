import type { Pool, QueryResult } from 'pg';
import { COLUMN, FIELD, FUNCTION, TABLE } from '../bullmq-layout.ts';
import { ENTRY_PREFIX, HELD_UNTIL, type InLines, type Noted } from '../server.ts';

/** An entry with its series, the token of its lock if it has one, and the note to write if it is held. */
export type Placed = InLines & { readonly series: string; readonly token?: string } & Partial<Noted>;

/** An SQL statement about `wanted`, which has a row for each line of each entry. Skipped if no entry has lines. */
interface LineStatement {
  readonly ofLines: string;
}

/** Text as an SQL literal, because several statements in one request cannot have parameters. */
export function quoted(text: string | undefined): string {
  return text === undefined ? 'NULL' : `'${text.replaceAll("'", "''")}'`;
}

/**
 * Changes entries and their lines in one request, and thus in one transaction. Returns the rows of each statement. Locks the
 * lines first, so that statements see earlier commits, and `seq` numbers become visible in the order of assignment.
 */
export async function changeInLines<T extends object>(
  pool: Pool,
  entries: readonly Placed[],
  statements: readonly (string | LineStatement)[],
): Promise<readonly (readonly T[])[]> {
  const rows = rowsOf(entries);
  const wanted = `WITH wanted AS (SELECT * FROM json_to_recordset(${quoted(JSON.stringify(rows))})
    AS t (place int, line text, id text, series text, entry text, token text, note jsonb, "isBehind" boolean))`;
  const all = (rows.length > 0 ? [LOCK, ...statements] : statements).flatMap((each) => {
    if (typeof each === 'string') return each;
    return rows.length > 0 ? `${wanted} ${each.ofLines}` : [];
  });
  const result = (await pool.query(all.join(';\n'))) as unknown; // a list if there are several statements
  const results = (Array.isArray(result) ? result : [result]) as readonly QueryResult<T>[];
  return results.slice(rows.length > 0 ? 1 : 0).map(({ rows: found }) => found);
}

/** A row for each line of each entry. `isBehind`: an earlier row has the same line. */
function rowsOf(entries: readonly Placed[]): readonly object[] {
  const seen = new Set<string>();
  const rows = entries.flatMap(({ series, id: entry, token = '', note = null, lines = [] }) =>
    lines.map((line) => {
      const isBehind = seen.has(line);
      seen.add(line);
      return { line, id: entry.slice(ENTRY_PREFIX.length), series, entry, token, note, isBehind };
    }),
  );
  return rows.map((row, place) => ({ ...row, place }));
}

const LOCK: LineStatement = {
  ofLines:
    'SELECT pg_advisory_xact_lock(hashtext(line)) FROM (SELECT DISTINCT line FROM wanted ORDER BY line) AS t',
};

/** The end of an SQL query for the row of one entry. */
function job(series: string, entry: string): string {
  return `FROM ${TABLE.jobs} WHERE ${COLUMN.series} = ${series} AND ${TABLE.jobs}.id = ${entry}`;
}

/** SQL for whether an entry exists unsettled: one index lookup, whatever the planner expects. */
const isThere = (entry: string): string =>
  `coalesce((SELECT ${COLUMN.settledAt} IS NULL ${job('wanted.series', entry)}), false)`;

/** SQL for the first id of a line. Skips ids whose entries a person has deleted. */
const FIRST = `(SELECT l.id FROM hooks.lines AS l WHERE l.line = wanted.line AND ${isThere(`'${ENTRY_PREFIX}' || l.id`)}
  ORDER BY seq LIMIT 1)`;

const joinIf = (isMeant: string): string => `INSERT INTO hooks.lines (line, id)
  SELECT line, id FROM wanted WHERE NOT EXISTS (SELECT FROM hooks.lines AS l WHERE l.line = wanted.line AND l.id = wanted.id)
    AND ${isMeant} ORDER BY place`;

/** Appends the ids of unsettled entries to their lines. */
export const JOIN: LineStatement = { ofLines: joinIf(isThere('entry')) };

/**
 * Adds entries by the SQL function of BullMQ's `addFlow`, registers their series, and appends the ids of new ones to their
 * lines. Holds an entry if another was in one of its lines, or is earlier in this call. `CALL` must follow, because an entry
 * may be held behind one that is settled already.
 */
export function addInLines(flow: string, registering: string): LineStatement {
  return {
    ofLines: `, registered AS (${registering}), joined AS (${joinIf(`NOT EXISTS (SELECT ${job('series', 'entry')})`)})
      SELECT count(*) FROM ${FUNCTION.add}((SELECT jsonb_agg(CASE
          WHEN (each ->> '${FIELD.delay}')::bigint = 0
            AND (each ->> '${COLUMN.series}', each ->> 'id') IN (SELECT series, entry FROM wanted WHERE "isBehind" OR ${FIRST} IS NOT NULL)
          THEN each || jsonb_build_object('${FIELD.delay}', ${HELD_UNTIL} - (each ->> '${FIELD.addedAt}')::bigint)
          ELSE each END ORDER BY place)
        FROM jsonb_array_elements(${flow}) WITH ORDINALITY AS t (each, place)))`,
  };
}

/** SQL of `Series.hold`. Selects only entries whose lock this process still holds: BullMQ's function fails for any other. */
export const HOLD: LineStatement = {
  ofLines: `SELECT entry AS id, ${FUNCTION.delay}(series, entry, token, ${HELD_UNTIL}, 0, true, NULL, NULL), ${FUNCTION.note}(series, entry, note)
    FROM (SELECT DISTINCT series, entry, token, note FROM wanted WHERE ${FIRST} <> wanted.id) AS t,
      LATERAL (SELECT ${job('series', 'entry')} AND ${COLUMN.state} = 'active' AND ${COLUMN.token} = token FOR UPDATE) AS locked`,
};

/** Removes settled and deleted entries from their lines. */
export const LEAVE: LineStatement = {
  ofLines: `DELETE FROM hooks.lines AS l USING wanted WHERE l.line = wanted.line AND l.id = wanted.id AND NOT ${isThere('entry')}`,
};

/** Makes held entries wait again if they are now first in their lines. */
export const CALL: LineStatement = {
  ofLines: `SELECT ${FUNCTION.wakeDelayed}(series, called) FROM (SELECT DISTINCT series, '${ENTRY_PREFIX}' || ${FIRST} AS called FROM wanted) AS t
    WHERE EXISTS (SELECT ${job('series', 'called')} AND ${COLUMN.state} = 'delayed' AND ${COLUMN.dueAt} >= ${HELD_UNTIL})`,
};
