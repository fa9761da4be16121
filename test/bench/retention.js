import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { bundle } from './bundle.js';
import { HOOKS, runNode } from './child.js';

export const claim =
  'What a server has in memory and on its disk: empty, filled, delivered, and at the end of the retention; twice';

const CHILD = new URL('servers-child.js', import.meta.url).pathname;
const PARTS = ['clock.ts', 'stores/open.ts', 'app/open-engine.ts', 'engine/options.ts'];
const SERVERS = ['../test/stores/server/servers.ts'];
const { BENCH_DELIVERIES = '1000000', BENCH_SERVERS = 'redis postgres' } = process.env;
const DELIVERIES = Number(BENCH_DELIVERIES);
/** So many that a step takes at most some two minutes. */
const AT_ONCE = 100_000;
const MB = 1_000_000;
/** PostgreSQL looks once a minute for tables to be vacuumed. */
const VACUUMED_MS = 120_000;

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, print }) {
  const parts = await bundle(folder, [...PARTS, ...SERVERS]);
  const { hasServer, sql, startServer } = await import(parts);
  for (const kind of BENCH_SERVERS.split(' ')) {
    if (!hasServer(kind)) continue;
    const server = await startServer(kind);
    const { url } = server;
    const size = kind === 'redis' ? () => sizeOfRedis(url) : () => sizeOfPostgres(url, sql);
    try {
      print(`${kind}, ${DELIVERIES.toLocaleString('en-US')} deliveries:`);
      await keep({ folder, parts, kind, url }, async (what, { counted = true } = {}) => {
        const seconds = counted ? `; stats in ${await statsSeconds({ folder, url })} s` : '';
        print(`  ${what}:`.padEnd(26) + (await size()) + seconds);
      });
    } finally {
      await server.remove();
    }
  }
}

/**
 * @param {{ folder: string, parts: string, kind: string, url: string }} place
 * @param {(what: string, options?: { counted?: boolean }) => Promise<void>} tell
 */
async function keep(place, tell) {
  await child(place, { step: 'fill', messages: 1, prefix: 'first' });
  await tell('empty');
  for (const time of ['first', 'second']) {
    for (let from = 0; from < DELIVERIES; from += AT_ONCE) {
      await child(place, { step: 'fill', messages: AT_ONCE, prefix: `${time}-${from}` });
    }
    await tell(`${time}, waiting`);
    for (let from = 0; from < DELIVERIES; from += AT_ONCE) {
      await child(place, { step: 'settle', state: 'delivered', messages: AT_ONCE });
    }
    await tell(`${time}, delivered`);
    await child(place, { step: 'forget' });
    await tell(`${time}, forgotten`);
    await sleep(VACUUMED_MS);
    await tell(`${time}, two minutes later`, { counted: false });
  }
}

async function sizeOfRedis(url) {
  const redis = new Redis(url);
  const info = await redis.info('memory');
  const [, folder = ''] = await redis.config('GET', 'dir');
  redis.disconnect();
  const [used, resident] = ['used_memory', 'used_memory_rss'].map((name) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]),
  );
  return `${mb(used)} used, ${mb(resident)} resident, ${mb(sizeOf(folder))} on the disk`;
}

async function sizeOfPostgres(url, sql) {
  const [row] = await sql(
    url,
    `SELECT current_setting('data_directory') AS folder, pg_relation_size('bullmq.job') AS job, pg_indexes_size('bullmq.job') AS indexes,
       (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'bullmq'::regnamespace) AS tables`,
  );
  const [job, indexes, tables] = [row.job, row.indexes, row.tables].map(Number);
  return `jobs ${mb(job)} and indexes ${mb(indexes)}, all tables ${mb(tables)}, log ${mb(sizeOf(join(row.folder, 'pg_wal')))}`;
}

/** @param {string} folder */
function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function statsSeconds({ folder, url }) {
  const own = mkdtempSync(join(folder, 'stats-'));
  const args = [HOOKS, 'queue', 'stats', '--store', url, '--no-config', '-o', 'json'];
  const { code, ms } = await runNode(args, { folder: own });
  if (code !== 0) throw new Error(`queue stats: exit ${code}`);
  return (ms / 1_000).toFixed(1);
}

async function child({ folder, parts, kind, url }, step) {
  const own = mkdtempSync(join(folder, 'child-'));
  const given = JSON.stringify({ who: 'hooks', kind, store: url, ...step });
  const { code } = await runNode([CHILD, parts, given], { folder: own });
  if (code !== 0) throw new Error(`${given}: exit ${code}`);
}

/** @param {number} bytes */
function mb(bytes) {
  return `${Math.round(bytes / MB)} MB`;
}
