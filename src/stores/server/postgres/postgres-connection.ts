import type { Pool } from 'pg';
import type { ServerConnection, ServerConnectionOptions } from '../bullmq-server.ts';
import { assertBullmqVersion, loadPackages } from '../packages.ts';
import { toJob } from '../bullmq-job.ts';
import { COLUMN, EVENTS_LIMIT, FUNCTION, SCHEMA, TABLE } from '../bullmq-layout.ts';
import type { NewEntry } from '../server.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { postgresFacts } from './postgres-facts.ts';
import { addInLines, CALL, changeInLines, quoted } from './postgres-lines.ts';
import { postgresSeries } from './postgres-series.ts';
import { assureTables } from './postgres-tables.ts';
import { watchPostgres } from './watch-postgres.ts';
import { serverError } from '../server-error.ts';

/** Maximum connections of a process: `durable` ones for writes that must reach the disk, `swift` ones for all others. */
const CONNECTIONS = { durable: 3, swift: 2 };
/** Maximum entries to add in one transaction. */
const ADDED_AT_ONCE = 1_000;

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
  const openPool = poolsOf(pg.Pool, { url, responseMs, own });
  const pool = openPool({ max: CONNECTIONS.durable });
  try {
    await assureTables(pool, (timeoutMs) => openPool({ max: 1, timeoutMs }), bullmq);
  } catch (error) {
    await pool.end();
    throw serverError(error, place);
  }
  // Uses commits that do not wait for the disk. They reach the disk within a second and in order.
  const swift = openPool({ max: CONNECTIONS.swift, settings: 'SET synchronous_commit TO off' });
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
      // Ignores errors of idle connections. A connection in use rejects its query.
      return bullmq.createPostgresBackend(name, { connection }).on('error', () => {});
    },
    // A series is registered by a row that BullMQ removes with the series.
    unregister: async () => {},
    registered: () => registered(pool),
    register: async (series) => void (await pool.query(registering(series))),
    findSeries: (prefix) => findSeries(pool, prefix),
    watch: (onAdded) =>
      watchPostgres(
        () =>
          new pg.Client({
            connectionString: url,
            connectionTimeoutMillis: responseMs,
            query_timeout: responseMs,
          }),
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

interface PoolSettings {
  readonly max: number;
  /** SQL to run on each new connection. */
  readonly settings?: string;
  /** Timeout of each query in ms. @default the timeout of the server */
  readonly timeoutMs?: number;
}

/** Returns a function that opens pools of connections. Adds to `own` the id of the server's process of each connection. */
function poolsOf(
  Driver: typeof Pool,
  { url, responseMs, own }: { readonly url: string; readonly responseMs: number; readonly own: Set<number> },
): (settings: PoolSettings) => Pool {
  return ({ max, settings = '', timeoutMs = responseMs }) => {
    const pool = new Driver({
      connectionString: url,
      max,
      connectionTimeoutMillis: responseMs,
      query_timeout: timeoutMs,
      statement_timeout: timeoutMs,
      // Ends a commit that waits for the lock of NOTIFY, which a commit that waits for a standby may hold. No other timeout
      // of the server ends a commit, so the connections of the server would run out.
      lock_timeout: timeoutMs,
      // Ends the transaction of a process that is suspended, because its locks would keep the other processes waiting.
      idle_in_transaction_session_timeout: timeoutMs,
      keepAlive: true,
      allowExitOnIdle: true,
      // eslint-disable-next-line typescript/no-misused-promises -- pg awaits it, despite the type
      onConnect: (client) => {
        // Ignores errors, because one that nothing listens to, as between the queries of a transaction, ends the process.
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
  };
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

/** SQL that registers series: the registry is the rows of `meta` with the event limit of each series. */
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
