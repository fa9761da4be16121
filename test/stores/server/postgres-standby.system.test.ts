// Needs postgres.
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { until } from '../../until.ts';
import { hasServer, sql, startServer } from './servers.ts';

const RESPONSE_MS = 500;
const STUCK = `SELECT 1 FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND wait_event_type IN ('IPC', 'Lock') AND pid <> pg_backend_pid()`;

describe.skipIf(!hasServer('postgres'))('a PostgreSQL whose standby is away', () => {
  it('fails the check, and keeps no backend for each entry that it does not confirm', async () => {
    const running = await startServer('postgres');
    onTestFinished(() => running.remove());
    const server = await openServer(running.url, { responseMs: RESPONSE_MS });
    onTestFinished(() => server.close());
    await server.check();
    const isChecked = () =>
      server.check().then(
        () => true,
        () => false,
      );
    await sql(running.url, "ALTER SYSTEM SET synchronous_standby_names = 'away'");
    await sql(running.url, 'SELECT pg_reload_conf()');
    // The processes of PostgreSQL read the new setting one after the other.
    await until(async () => !(await isChecked()), 'a check that fails');
    await expect(server.check()).rejects.toThrow('does not respond in time');
    for (let call = 0; call < 6; call++) {
      const entry = { series: 'lane', id: `d-${call}`, name: 'n', text: '{}', addedAt: 1, lines: ['line'] };
      await expect(server.add([entry])).rejects.toThrow('does not respond in time');
    }
    // One query waits for the standby; the others waited for its locks.
    await until(async () => (await sql(running.url, STUCK)).length <= 2, 'the end of the other backends');
    await sql(running.url, 'ALTER SYSTEM RESET synchronous_standby_names');
    await sql(running.url, 'SELECT pg_reload_conf()');
    await until(isChecked, 'the check to pass');
  }, 60_000);
});
