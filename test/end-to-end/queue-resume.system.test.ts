// Kills processes: replays to the queue.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { loadSqlite } from '../../src/stores/sqlite/file/sqlite.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks, type HooksOptions } from './hooks.ts';
import { receiving, summaryOf, track, tracks } from './receiving.ts';

const { DatabaseSync } = await loadSqlite();
const COUNT = 16_000;
const IDS = Array.from({ length: COUNT }, (_, index) => `m${index}`);

/** Returns messages. Every fifth is for one of the two destinations only, every seventh has no id. */
function day(): string {
  const lines = IDS.map((_, index) =>
    track(index, {
      userId: `u${index % 100}`,
      properties: { index },
      ...(index % 5 === 0 && { integrations: { Second: false } }),
      ...(index % 7 === 0 && { messageId: undefined }),
    }),
  );
  return `${lines.join('\n')}\n`;
}

/** Returns the index of each message in the queue, with its destination. */
function queued(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    const rows = database.prepare('SELECT CAST(body AS TEXT) AS body, lane FROM deliveries').all();
    return rows.map(({ body, lane }) => {
      const { properties } = JSON.parse(String(body)) as { properties: { index: number } };
      return `${String(lane)}:${properties.index}`;
    });
  } finally {
    database.close();
  }
}

/** Starts a replay to the queue, and kills it this long after the first messages were queued. */
async function killed(args: readonly string[], options: HooksOptions, afterMs: number): Promise<void> {
  const running = startHooks(args, options);
  await running.lines.next();
  await delay(afterMs);
  expect((await running.stop('SIGKILL')).signal).toBe('SIGKILL');
}

const First = { webhooks: ['http://127.0.0.1:9/a'] };
const Second = { webhooks: ['http://127.0.0.1:9/b'] };
const CONFIG = { sources: { web: { destinations: { First, Second } } } };

it('a replay to the queue that is killed in its first second and resumed queues each message once', async () => {
  const cwd = temporaryFolder({ 'day.ndjson': day(), '.hooksrc.json': JSON.stringify(CONFIG) });
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  const file = join(cwd, 'data', 'hooks.db');
  const args = ['replay', 'day.ndjson', '--queue', '-o', 'json'];
  const whole = 2 * COUNT - COUNT / 5;
  for (const [kills, afterMs] of [0, 20, 100].entries()) {
    await killed(kills === 0 ? args : [...args, '--resume'], options, afterMs);
    const all = queued(file);
    expect(all.length).toBeGreaterThan(0);
    expect(new Set(all).size).toBe(all.length);
  }
  const last = await hooks([...args, '--resume'], options);
  expect(last.code, last.stderr).toBe(0);
  const { read, skipped } = summaryOf(last.stdout);
  expect(read + skipped).toBe(COUNT);
  expect([new Set(queued(file)).size, queued(file).length]).toEqual([whole, whole]);

  // A replay that starts at the beginning queues everything again.
  expect((await hooks(args, options)).code).toBe(0);
  expect(queued(file)).toHaveLength(2 * whole);
});

it('a worker that delivers during such a replay gets each message once', async () => {
  const to = await receiving();
  const cwd = temporaryFolder({ 'day.ndjson': tracks(3_000) });
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data'), HOOKS_URL: to.url } };
  const args = ['replay', 'day.ndjson', '--queue', '--order', 'none', '-o', 'json'];
  await killed(args, options, 0);
  const worker = startHooks(['worker', '--allow-private'], options);
  await until(() => to.requests.length > 0, 'the first delivery');
  expect((await hooks([...args, '--resume'], options)).code).toBe(0);
  await until(() => to.requests.length >= 3_000, 'all messages', { seconds: 30 });
  expect((await worker.stop('SIGTERM')).code).toBe(0);
  expect([to.requests.length, new Set(to.field('messageId')).size]).toEqual([3_000, 3_000]);
});
