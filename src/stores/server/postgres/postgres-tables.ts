import type { Pool } from 'pg';
import { QueueError } from '../../../errors.ts';
import { COLUMN, SCHEMA, TABLE } from '../bullmq-layout.ts';

/** Number of the advisory lock under which a process makes the tables: any number that no other program uses. */
const TABLE_LOCK = 0x686f6f6b;
/** Maximum time to make the tables, or to wait for another process that makes them. */
const MAKING_MS = 60_000;

type Bullmq = typeof import('bullmq');
type Queryable = Pick<Pool, 'query'>;

/** Makes missing tables over a connection of `open`. Looks first: users who may not make tables can use existing ones. */
export async function assureTables(
  pool: Pool,
  open: (timeoutMs: number) => Pool,
  bullmq: Bullmq,
): Promise<void> {
  const hasTheirs = await hasBullmqTables(pool, bullmq);
  if (hasTheirs && (await hasOurTables(pool))) return;
  const making = open(MAKING_MS);
  const client = await making.connect();
  try {
    if (!hasTheirs) await bullmq.runMigrations(client, SCHEMA);
    await makeTables(client);
  } finally {
    client.release(true);
    await making.end();
  }
}

async function hasBullmqTables(client: Queryable, bullmq: Bullmq): Promise<boolean> {
  try {
    await bullmq.assertSchemaCompatibility(client, SCHEMA);
    return true;
  } catch (error) {
    if (error instanceof bullmq.SchemaMigrationRequiredError) return false;
    throw error;
  }
}

/**
 * Whether the tables and the index of hooks exist. Reads the catalog, because a role may lack rights to the schemas. Throws
 * QueueError for tables of an older version.
 */
async function hasOurTables(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE (nspname, relname) IN (('hooks', 'lines'), ('hooks', 'facts'), ('${SCHEMA}', 'hooks_stalled'), ('${SCHEMA}', 'hooks_lines'))`,
  );
  if (!rows.some(({ name }) => name === 'hooks_lines')) return rows.length === 3;
  throw new QueueError('The tables in PostgreSQL were made by another version of hooks', {
    hint: `run \`hooks queue export --deliveries > FILE\` with that version, drop the schema ${SCHEMA}, then run \`hooks queue import FILE\``,
  });
}

/** Makes the tables of hooks in one request, and thus in one transaction. */
async function makeTables(client: Queryable): Promise<void> {
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
