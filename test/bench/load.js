import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { bundle } from './bundle.js';
import { cleanEnv, HOOKS, startCommand } from './child.js';
import { message } from './messages.js';
import { startReceiver } from './receiver.js';

export const claim =
  'Calls to two hooks serve, with four hooks worker on the same server: what they get, and how soon';

const { BENCH_SERVERS = 'redis postgres', BENCH_FLUSH_MS = '0' } = process.env;
const { BENCH_RATE = '1200', BENCH_SECONDS = '60', BENCH_CALLERS = '32' } = process.env;
const [RATE, SECONDS, CALLERS] = [BENCH_RATE, BENCH_SECONDS, BENCH_CALLERS].map(Number);
const [SERVES, WORKERS] = [2, 4];
/** As many messages as @segment/analytics-node puts into a batch. */
const BATCH = 15;
const HEADERS = {
  authorization: `Basic ${Buffer.from('bench:').toString('base64')}`,
  'content-type': 'application/json',
};

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, print }) {
  const parts = await bundle(folder, ['../test/stores/server/servers.ts']);
  const { hasServer, sql, startServer } = await import(parts);
  const receiver = await startReceiver(folder);
  try {
    for (const kind of BENCH_SERVERS.split(' ')) {
      if (!hasServer(kind)) continue;
      const server = await startServer(kind);
      try {
        if (kind === 'postgres') await slowDown(server.url, sql);
        print(`${kind}, ${SERVES} serve, ${WORKERS} worker, flush + ${BENCH_FLUSH_MS} ms:`);
        await load({ folder, store: server.url, url: receiver.url, print });
      } finally {
        await server.remove();
      }
    }
  } finally {
    await receiver.stop();
  }
}

/** PostgreSQL waits before each flush of its log, as a slow disk would make it wait. */
async function slowDown(url, sql) {
  await sql(url, `ALTER SYSTEM SET commit_delay = ${Number(BENCH_FLUSH_MS) * 1_000}`);
  await sql(url, 'ALTER SYSTEM SET commit_siblings = 0');
  await sql(url, 'SELECT pg_reload_conf()');
}

async function load({ folder, store, url, print }) {
  const config = join(folder, 'load.json');
  const destinations = { Webhooks: { sharedSecret: 's', webhooks: [url] } };
  writeFileSync(config, JSON.stringify({ sources: { web: { writeKey: 'bench', destinations } } }));
  const flags = ['-c', config, '--store', store, '--allow-private', '-q'];
  const serves = [];
  for (let count = 0; count < SERVES; count++) {
    const own = mkdtempSync(join(folder, 'serve-'));
    serves.push(await startCommand(['serve', '--no-deliver', '--port', '0', ...flags], { folder: own }));
  }
  const workers = Array.from({ length: WORKERS }, () => startWorker(folder, flags));
  const pools = serves.map((serve) => new Pool(serve.url, { connections: 256 }));
  let number = 0;
  const post = async (size) => {
    const messages = Array.from({ length: size }, () => message(number++));
    const [path, body] =
      size === 1 ? ['/v1/track', messages[0]] : ['/v1/batch', `{"batch":[${messages.join(',')}]}`];
    const began = performance.now();
    const status = await pools[number % SERVES]
      .request({ method: 'POST', path, headers: HEADERS, body })
      .then(
        async (response) => {
          await response.body.dump();
          return response.statusCode;
        },
        (error) => error.code,
      );
    return { status, ms: performance.now() - began };
  };
  try {
    await atRate(RATE, 3, () => post(1)); // V8 compiles what is used often.
    print(
      `  batches of ${BATCH}, ${RATE} messages a second: ${told(await atRate(RATE / BATCH, SECONDS, () => post(BATCH)))}`,
    );
    print(`  single calls, ${RATE} a second: ${told(await atRate(RATE, SECONDS, () => post(1)))}`);
    print(`  single calls, ${CALLERS} callers: ${told(await asFast(CALLERS, SECONDS / 2, () => post(1)))}`);
  } finally {
    await Promise.all([...pools.map((pool) => pool.destroy()), ...serves.map((serve) => serve.stop())]);
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** Calls that come whether or not earlier ones were answered. */
async function atRate(perSecond, seconds, call) {
  const calls = [];
  const began = performance.now();
  while (calls.length < perSecond * seconds) {
    const due = ((performance.now() - began) * perSecond) / 1_000;
    while (calls.length < Math.min(due, perSecond * seconds)) calls.push(call());
    await sleep(1);
  }
  return { results: await Promise.all(calls), seconds: (performance.now() - began) / 1_000 };
}

/** Callers that call again once they are answered. */
async function asFast(callers, seconds, call) {
  const results = [];
  const began = performance.now();
  const caller = async () => {
    while (performance.now() - began < seconds * 1_000) results.push(await call());
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { results, seconds: (performance.now() - began) / 1_000 };
}

function told({ results, seconds }) {
  const counts = new Map();
  for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1);
  const times = results.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const at = (share) => `${Math.round(times[Math.floor(times.length * share)] ?? 0)} ms`;
  const statuses = [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
  return `${statuses}; ${Math.round(results.length / seconds)} a second, half within ${at(0.5)}, 99 % within ${at(0.99)}`;
}

function startWorker(folder, flags) {
  const env = { ...cleanEnv(), HOOKS_DATA_DIR: mkdtempSync(join(folder, 'worker-')) };
  const child = spawn(process.execPath, [HOOKS, 'worker', ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
  const ended = once(child, 'exit');
  return {
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
