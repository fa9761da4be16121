// Needs postgres.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { hasServer, sql, startServer, type TestServer } from './servers.ts';

/** src/stores/server/postgres/postgres-connection.ts */
const TABLE_LOCK = 0x686f6f6b;
const ANSWER_MS = 2_000;

describe.skipIf(!hasServer('postgres'))('the tables in PostgreSQL', () => {
  let running: TestServer;

  beforeAll(async () => {
    running = await startServer('postgres');
  });

  afterAll(() => running.remove());

  it('can be made by another process that takes longer than the response timeout', async () => {
    const maker = new Client({ connectionString: running.url });
    await maker.connect();
    onTestFinished(() => maker.end());
    await maker.query('SELECT pg_advisory_lock($1)', [TABLE_LOCK]);
    let isMade = false;
    const release = setTimeout(() => {
      isMade = true;
      void maker.query('SELECT pg_advisory_unlock($1)', [TABLE_LOCK]);
    }, 2 * ANSWER_MS);
    onTestFinished(() => clearTimeout(release));
    const server = await openServer(running.url, { responseMs: ANSWER_MS });
    onTestFinished(() => server.close());
    expect(isMade).toBe(true);
    expect(await server.series('hooks-test').ids('waiting', 0, -1)).toEqual([]);
  });

  it('of an older version are rejected, and stay unchanged', async () => {
    await (await openServer(running.url)).close();
    await sql(running.url, 'CREATE TABLE bullmq.hooks_lines (line text)');
    onTestFinished(async () => void (await sql(running.url, 'DROP TABLE bullmq.hooks_lines')));
    await expect(openServer(running.url)).rejects.toMatchObject({
      message: 'The tables in PostgreSQL were made by another version of hooks',
      hint: expect.stringContaining('hooks queue export'),
    });
  });

  it('are in a schema of their own', async () => {
    const server = await openServer(running.url);
    onTestFinished(() => server.close());
    const ours = "SELECT schemaname AS schema, tablename AS name FROM pg_tables WHERE schemaname = 'hooks'";
    expect(await sql(running.url, `${ours} OR tablename LIKE 'hooks%' ORDER BY tablename`)).toEqual([
      { schema: 'hooks', name: 'facts' },
      { schema: 'hooks', name: 'lines' },
    ]);
  });
});
