import type { Pool, PoolClient } from 'pg';
import type { ServerConnection, ServerConnectionOptions } from '../bullmq-server.ts';
import { assertBullmqVersion, loadPackages } from '../packages.ts';
import { toJob } from '../bullmq-job.ts';
import { COLUMN, EVENTS_LIMIT, FUNCTION, SCHEMA, TABLE } from '../bullmq-layout.ts';
import type { NewEntry } from '../server.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { postgresFacts } from './postgres-facts.ts';
import { addInLines, CALL, changeInLines, quoted } from './postgres-lines.ts';
import { postgresSeries } from './postgres-series.ts';
import { watchPostgres } from './watch-postgres.ts';
import { serverError } from '../server-error.ts';

/** Connections of a process: `durable` for writes that must reach the disk, `swift` for writes that a lease guards. */
const CONNECTIONS = { durable: 3, swift: 2 };
/** Maximum entries to add in one transaction. */
const ADDED_AT_ONCE = 1_000;
/** Number of the advisory lock under which a process makes the tables: any number that no other program uses. */
const TABLE_LOCK = 0x686f6f6b;
/** Maximum time to make the tables, or to wait for another process that makes them. */
const MAKING_MS = 60_000;

/** Throws QueueError for a server that cannot be used. */
export async function connectPostgres(
  url: string,
  { place, responseMs }: ServerConnectionOptions,
): Promise<ServerConnection> {
  const [{ default: pg }, bullmq] = await loadPackages(place, ['pg', 'bullmq'], () =>
    Promise.all([import('pg'), import('bullmq')]),
  );
  assertBullmqVersion();
  const own = new Set<number>();
  const server = { Driver: pg.Pool, url, responseMs, own };
  const listening = {
    connectionString: url,
    connectionTimeoutMillis: responseMs,
    query_timeout: responseMs,
  };
  const pool = openPool(server, { max: CONNECTIONS.durable });
  try {
    if (!(await isPrepared(pool, bullmq))) {
      await prepare(openPool(server, { max: 1, timeoutMs: MAKING_MS }), bullmq);
    }
  } catch (error) {
    await pool.end();
    throw serverError(error, place);
  }
  // Uses commits that do not wait for the disk. They reach the disk within a second and in order.
  const swift = openPool(server, { max: CONNECTIONS.swift, settings: 'SET synchronous_commit TO off' });
  const adding = new GatheredWrites<NewEntry>({
    write: (entries) => addAll(pool, entries),
    most: ADDED_AT_ONCE,
  });
  return {
    place,
    series: (name) => postgresSeries({ pool, swift }, name),
    facts: postgresFacts(swift),
    durableFacts: postgresFacts(pool),
    add: (entries) => adding.write(entries),
    backendOf: async (name) => {
      const connection = swift as never; // BullMQ accepts a pool, but declares its functions differently
      // Ignores errors of idle connections, as openPool does.
      return bullmq.createPostgresBackend(name, { connection }).on('error', () => {});
    },
    // A series is registered by a row that BullMQ removes with the series.
    unregister: async () => {},
    registered: () => registered(pool),
    register: async (series) => void (await pool.query(registering(series))),
    findSeries: (prefix) => findSeries(pool, prefix),
    watch: (onAdded) =>
      watchPostgres(
        () => new pg.Client(listening),
        (series, sender) => {
          if (!own.has(sender)) onAdded(series);
        },
      ),
    warnings: () => warnings(pool, place),
    close: async () => {
      await Promise.all([pool.end(), swift.end()]);
    },
  };
}

function openPool(
  {
    Driver,
    url,
    responseMs,
    own,
  }: {
    readonly Driver: typeof Pool;
    readonly url: string;
    readonly responseMs: number;
    /** The ids of the server's processes that serve the connections of the pool. */
    readonly own: Set<number>;
  },
  {
    max,
    settings = '',
    timeoutMs = responseMs,
  }: { readonly max: number; readonly settings?: string; readonly timeoutMs?: number },
): Pool {
  const pool = new Driver({
    connectionString: url,
    max,
    connectionTimeoutMillis: responseMs,
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    // Ends a backend that waits for a lock after this process gave up the query: without it, each query to a server whose
    // standby is away would leave a backend behind. No other timeout applies to a commit.
    lock_timeout: timeoutMs,
    keepAlive: true,
    allowExitOnIdle: true,
    // eslint-disable-next-line typescript/no-misused-promises -- pg awaits it, despite the type
    onConnect: (client) => {
      // Ignores errors of a connection, because nothing else listens between the queries of a transaction, and an unhandled
      // `error` event ends the process.
      client.on('error', () => {});
      const { processID: id = 0 } = client as { readonly processID?: number }; // missing in the types
      own.add(id);
      client.once('end', () => own.delete(id));
      return client.query(
        `SET search_path TO ${SCHEMA}; SET standard_conforming_strings TO on; SET default_transaction_isolation TO 'read committed'; ${settings}`,
      );
    },
  });
  // Ignores errors of idle connections. A connection in use rejects its query.
  pool.on('error', () => {});
  pool.setMaxListeners(0);
  return pool;
}

type Bullmq = typeof import('bullmq');

/** Whether the tables exist. Checked first, so that a user who may not make tables can use existing ones. */
async function isPrepared(pool: Pool, bullmq: Bullmq): Promise<boolean> {
  return withClient(pool, async (client) => (await hasBullmqTables(client, bullmq)) && hasOurTables(client));
}

/** Makes missing tables of BullMQ and hooks. Closes the pool. */
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

/** Whether the tables of hooks exist, and its index. Reads the catalog, because a role may lack rights to the schemas. */
async function hasOurTables(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE (nspname, relname) IN (('hooks', 'lines'), ('hooks', 'facts'), ('${SCHEMA}', 'hooks_stalled'))`,
  );
  return rows.length === 3;
}

/** One request, and thus one transaction. */
async function makeTables(client: PoolClient): Promise<void> {
  await client.query(`
    SELECT pg_advisory_xact_lock(${TABLE_LOCK});
    CREATE SCHEMA IF NOT EXISTS hooks;
    CREATE TABLE IF NOT EXISTS hooks.lines (
      line text NOT NULL,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      id text NOT NULL,
      PRIMARY KEY (line, seq)
    );
    -- Without this index, the time to leave a line grows with the length of the line.
    CREATE INDEX IF NOT EXISTS line_ids ON hooks.lines (line, id);
    CREATE TABLE IF NOT EXISTS hooks.facts (
      name text PRIMARY KEY,
      text text NOT NULL,
      expires_at bigint
    );
    CREATE INDEX IF NOT EXISTS expiring_facts ON hooks.facts (expires_at);
    -- Without this index, BullMQ scans every entry of a series for expired leases.
    CREATE INDEX IF NOT EXISTS hooks_stalled ON ${SCHEMA}.${TABLE.jobs} (${COLUMN.series}) WHERE ${COLUMN.isStalled}`);
}

async function warnings(pool: Pool, place: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')",
  );
  return rows
    .filter(({ setting }) => setting === 'off')
    .map(({ name }) => `${place} may lose what it acknowledged when it crashes; set \`${name} = on\``);
}

/** Adds entries and registers their series in one request, so that the disk is waited for only once. */
async function addAll(pool: Pool, entries: readonly NewEntry[]): Promise<void> {
  const jobs = entries.map((entry) => ({ ...toJob(entry), [COLUMN.series]: entry.series, attempts: 1 }));
  const flow = `${quoted(JSON.stringify(jobs))}::jsonb`;
  const names = new Set(entries.map(({ series }) => series));
  const areInLines = entries.some(({ lines = [] }) => lines.length > 0);
  const registers = registering([...names]);
  const adding = areInLines
    ? addInLines(flow, registers)
    : `WITH registered AS (${registers}) SELECT count(*) FROM ${FUNCTION.add}(${flow})`;
  await changeInLines(pool, entries, [adding, CALL]);
}

/**
 * The SQL statement that registers series. The registry is the rows of the table `meta` with the event limit of each
 * series.
 */
function registering(series: readonly string[]): string {
  const { field, value } = EVENTS_LIMIT;
  return `INSERT INTO ${TABLE.meta} (${COLUMN.series}, field, value) SELECT series, '${field}', '${value}'
    FROM json_array_elements_text(${quoted(JSON.stringify(series.toSorted()))}) AS t (series) ON CONFLICT DO NOTHING`;
}

async function registered(pool: Pool): Promise<readonly string[]> {
  const text = `SELECT ${COLUMN.series} AS series FROM ${TABLE.meta} WHERE field = $1`;
  const { rows } = await pool.query<{ series: string }>(text, [EVENTS_LIMIT.field]);
  return rows.map(({ series }) => series);
}

/** Finds the names of all series that contain entries. Takes one index lookup per series, however many entries it has. */
async function findSeries(pool: Pool, prefix: string): Promise<readonly string[]> {
  const { series: column } = COLUMN;
  const { rows } = await pool.query<{ series: string }>(
    `WITH RECURSIVE names (series) AS (
       (SELECT ${column} FROM ${TABLE.jobs} ORDER BY ${column} LIMIT 1)
       UNION ALL
       SELECT (SELECT ${column} FROM ${TABLE.jobs} WHERE ${column} > names.series ORDER BY ${column} LIMIT 1)
         FROM names WHERE names.series IS NOT NULL
     ) SELECT series FROM names WHERE starts_with(series, $1)`,
    [prefix],
  );
  return rows.map(({ series }) => series);
}
