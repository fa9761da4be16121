import type { Pool, PoolClient } from 'pg';
import { lineName, type InLine, type Lines } from '../server.ts';

/** A row for each id in each line. */
export function postgresLines(pool: Pool): Lines {
  return {
    join: (ids) => inTransaction(pool, (client) => join(client, ids)),
    leave: async (ids) => {
      // One that leaves at the same time is no longer seen once it is gone, so the first is asked for afterwards.
      await pool.query(
        `DELETE FROM hooks_lines AS l USING unnest($1::text[], $2::text[]) AS gone (line, id)
          WHERE l.line = gone.line AND l.id = gone.id`,
        columns(ids),
      );
      const firsts = await firstsOf(pool, [...new Set(ids.flatMap(({ keys }) => keys))]);
      return [...new Set(firsts)].filter((id) => id !== undefined);
    },
    firsts: (keys) => firstsOf(pool, keys),
    lost: async (ids) => {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT DISTINCT id FROM unnest($1::text[], $2::text[]) AS wanted (line, id)
          WHERE NOT EXISTS (SELECT FROM hooks_lines AS l WHERE l.line = wanted.line AND l.id = wanted.id)`,
        columns(ids),
      );
      return rows.map(({ id }) => id);
    },
  };
}

async function firstsOf(pool: Pool, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
  const { rows } = await pool.query<{ id: string | null }>(
    `SELECT (SELECT id FROM hooks_lines WHERE line = wanted ORDER BY seq LIMIT 1) AS id
       FROM unnest($1::text[]) WITH ORDINALITY AS t (wanted, place) ORDER BY place`,
    [keys.map(lineName)],
  );
  return rows.map(({ id }) => id ?? undefined);
}

async function join(client: PoolClient, ids: readonly InLine[]): Promise<void> {
  const [lines, who] = columns(ids);
  // Numbers are given out in the order of asking, rows are seen in the order of committing: one at a time for each line.
  await client.query('SELECT pg_advisory_xact_lock(hashtext(line)) FROM unnest($1::text[]) AS t (line)', [
    [...new Set(lines)].toSorted(),
  ]);
  await client.query(
    `INSERT INTO hooks_lines (line, id)
       SELECT line, id FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (line, id, place) ORDER BY place`,
    [lines, who],
  );
}

function columns(ids: readonly InLine[]): [lines: readonly string[], ids: readonly string[]] {
  const rows = ids.flatMap(({ id, keys }) => [...new Set(keys)].map((key) => ({ line: lineName(key), id })));
  return [rows.map(({ line }) => line), rows.map(({ id }) => id)];
}

async function inTransaction(pool: Pool, act: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query('BEGIN');
    await act(client);
    await client.query('COMMIT');
  } catch (error) {
    failed = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A client whose transaction failed is not used again: the server rolls back.
    client.release(failed);
  }
}
