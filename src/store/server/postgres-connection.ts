import type { Pool, PoolClient } from 'pg';
import type { BackendFactory, IQueueBackend } from 'bullmq';
import { openBackend, type Connection, type ConnectionOptions } from './bullmq-server.ts';
import { lineName } from './line-name.ts';
import { loadPackages } from './packages.ts';
import type { InLine, Lines } from './server.ts';
import { serverError } from './server-error.ts';

/** A claim takes several at once. */
const CONNECTIONS = 10;
/** Where BullMQ looks for its tables in a pool that is handed to it. */
const SCHEMA = 'bullmq';
/** Any number that nobody else takes: who makes the tables holds it. */
const TABLE_LOCK = 0x686f6f6b;
/** To make the tables, or for another process to have made them. */
const MAKING_MS = 60_000;

/** Rejects with QueueError for a server that cannot be used. */
export async function connectPostgres(
  url: string,
  { place, answerMs }: ConnectionOptions,
): Promise<Connection> {
  const [{ default: pg }, bullmq] = await loadPackages(place, ['pg', 'bullmq'], () =>
    Promise.all([import('pg'), import('bullmq')]),
  );
  const open = (settings: string, timeoutMs = answerMs): Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: answerMs,
      query_timeout: timeoutMs,
      statement_timeout: timeoutMs,
      keepAlive: true,
      allowExitOnIdle: true,
      // eslint-disable-next-line typescript/no-misused-promises -- it is awaited, whatever its type says
      onConnect: (client) => {
        // Between the queries of a transaction nobody else listens, and what nobody hears ends the process.
        client.on('error', () => {});
        return client.query(`SET search_path TO ${SCHEMA}; ${settings}`);
      },
    });
    // Of connections that nobody uses; who uses one is told by its query.
    pool.on('error', () => {});
    pool.setMaxListeners(0);
    return pool;
  };
  const pool = open('');
  try {
    if (!(await isPrepared(pool, bullmq))) await prepare(open('', MAKING_MS), bullmq);
  } catch (error) {
    await pool.end();
    throw serverError(error, place);
  }
  // A commit waits for no disk, and comes to it within a second. None that waits comes to it before one that was before.
  const swift = open('SET synchronous_commit TO off');
  return {
    place,
    backend: (name, options) =>
      openBackend(bullmq.createPostgresBackend as BackendFactory<IQueueBackend, Pool>, {
        name,
        connection: options.isUndoable ? swift : pool,
        options,
      }), // a pool is one of the connections that it takes
    lines: postgresLines(pool),
    warnings: () => warnings(pool, place),
    close: async () => {
      await Promise.all([pool.end(), swift.end()]);
    },
  };
}

type Bullmq = typeof import('bullmq');

/** Whether the tables are there. Who may not make tables can use those that somebody else has made. */
async function isPrepared(pool: Pool, bullmq: Bullmq): Promise<boolean> {
  return withClient(pool, async (client) => (await hasBullmqTables(client, bullmq)) && hasOurTables(client));
}

/** Makes BullMQ's tables and ours, once, over a pool that it closes. */
async function prepare(pool: Pool, bullmq: Bullmq): Promise<void> {
  try {
    await withClient(pool, async (client) => {
      if (!(await hasBullmqTables(client, bullmq))) await bullmq.runMigrations(client, SCHEMA);
      if (!(await hasOurTables(client))) await makeTables(client);
    });
  } finally {
    await pool.end();
  }
}

async function withClient<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(client);
  } finally {
    client.release(true);
  }
}

async function hasBullmqTables(client: PoolClient, bullmq: Bullmq): Promise<boolean> {
  try {
    await bullmq.assertSchemaCompatibility(client, SCHEMA);
    return true;
  } catch (error) {
    if (error instanceof bullmq.SchemaMigrationRequiredError) return false;
    throw error;
  }
}

async function hasOurTables(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ areMade: boolean }>(
    `SELECT to_regclass('${SCHEMA}.hooks_lines') IS NOT NULL
        AND to_regclass('${SCHEMA}.hooks_stalled') IS NOT NULL AS "areMade"`,
  );
  return rows[0]?.areMade === true;
}

async function makeTables(client: PoolClient): Promise<void> {
  await client.query('BEGIN');
  await client.query('SELECT pg_advisory_xact_lock($1)', [TABLE_LOCK]);
  await client.query(`CREATE TABLE IF NOT EXISTS ${SCHEMA}.hooks_lines (
    line text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    id text NOT NULL,
    PRIMARY KEY (line, seq)
  )`);
  // BullMQ looks for leases that have run out in every entry of a series, else.
  await client.query(
    `CREATE INDEX IF NOT EXISTS hooks_stalled ON ${SCHEMA}.job (queue) WHERE stalled_marked`,
  );
  await client.query('COMMIT');
}

async function warnings(pool: Pool, place: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')",
  );
  return rows
    .filter(({ setting }) => setting === 'off')
    .map(({ name }) => `${place} may lose what it acknowledged when it crashes; set \`${name} = on\``);
}

/** A row for each id in each line. */
function postgresLines(pool: Pool): Lines {
  return {
    join: (ids) => inTransaction(pool, (client) => join(client, ids)),
    leave: async ({ id, keys }) => {
      await pool.query('DELETE FROM hooks_lines WHERE line = ANY($1) AND id = $2', [keys.map(lineName), id]);
    },
    firsts: async (keys) => {
      const { rows } = await pool.query<{ id: string | null }>(
        `SELECT (SELECT id FROM hooks_lines WHERE line = wanted ORDER BY seq LIMIT 1) AS id
           FROM unnest($1::text[]) WITH ORDINALITY AS t (wanted, place) ORDER BY place`,
        [keys.map(lineName)],
      );
      return rows.map(({ id }) => id ?? undefined);
    },
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
    // What failed in a transaction is not used again: the server takes it back.
    client.release(failed);
  }
}
