import type { Pool, QueryResult } from 'pg';
import { lineName, type InLine, type Lines } from '../server.ts';

/** A row for each id in each line. */
export function postgresLines(pool: Pool): Lines {
  return {
    join: (ids, { areAdded = false } = {}) =>
      change(pool, ids, [
        `INSERT INTO hooks_lines (line, id)
           SELECT line, id FROM wanted WHERE ${areAdded ? `NOT ${IS_GONE} AND` : ''}
             NOT EXISTS (SELECT FROM hooks_lines AS l WHERE l.line = wanted.line AND l.id = wanted.id)
           ORDER BY place`,
        `SELECT DISTINCT id FROM wanted WHERE id <> ${FIRST}`,
      ]),
    leave: (ids) =>
      change(pool, ids, [
        `DELETE FROM hooks_lines AS l USING wanted WHERE l.line = wanted.line AND l.id = wanted.id AND ${IS_GONE}`,
        `SELECT DISTINCT ${FIRST} AS id FROM wanted WHERE ${IS_GONE} AND ${FIRST} IS NOT NULL`,
      ]),
    firsts: async (keys) => {
      const { rows } = await pool.query<{ id: string | null }>(
        `SELECT ${FIRST} AS id FROM unnest($1::text[]) WITH ORDINALITY AS wanted (line, place) ORDER BY place`,
        [keys.map(lineName)],
      );
      return rows.map(({ id }) => id ?? undefined);
    },
  };
}

const FIRST = '(SELECT id FROM hooks_lines AS l WHERE l.line = wanted.line ORDER BY seq LIMIT 1)';
const IS_GONE = `NOT EXISTS (SELECT FROM job
  WHERE job.queue = wanted.series AND job.id = wanted.entry AND job.finished_at_ms IS NULL)`;

/**
 * Runs statements on the `wanted` ids, and returns the ids that the last one selects. The lines are locked first: each statement sees
 * what was committed before, and numbers, which are given out in the order of asking, are seen in it. All are sent as one text, which
 * is a transaction, and takes no parameters.
 */
async function change(
  pool: Pool,
  ids: readonly InLine[],
  statements: readonly string[],
): Promise<readonly string[]> {
  const rows = ids.flatMap(({ id, keys, entry: { series, id: entry } }) =>
    [...new Set(keys)].map((key) => ({ line: lineName(key), id, series, entry })),
  );
  const json = Buffer.from(JSON.stringify(rows.map((row, place) => ({ ...row, place })))).toString('hex');
  const wanted = `WITH wanted AS (SELECT * FROM json_to_recordset(convert_from(decode('${json}', 'hex'), 'UTF8')::json)
    AS t (place int, line text, id text, series text, entry text))`;
  const lock =
    'SELECT pg_advisory_xact_lock(hashtext(line)) FROM (SELECT DISTINCT line FROM wanted ORDER BY line) AS t';
  const text = [lock, ...statements].map((each) => `${wanted} ${each}`).join(';\n');
  // Of several statements, whatever its type says.
  const results = (await pool.query(text)) as unknown as readonly QueryResult<{ readonly id: string }>[];
  return (results.at(-1)?.rows ?? []).map(({ id }) => id);
}
