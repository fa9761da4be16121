import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import { startCommand, startProgram } from './child.js';
import { message } from './messages.js';
import { startReceiver } from './receiver.js';
import { report } from './report.js';
import { interleave } from './rounds.js';

export const claim =
  'Single messages at a low rate: `serve` that delivers, compared with a bare server that syncs each body to the disk and posts it';

const BARE_SERVER = fileURLToPath(new URL('singles-child.js', import.meta.url));
const RATES = [50, 300, 1_000];
const SECONDS = 4;
const CONNECTIONS = 8;
const quantities = {
  cpuUs: { name: 'CPU µs a message', shown: (/** @type {number} */ number) => number.toFixed(0) },
};
const HEADERS = [
  'authorization',
  `Basic ${Buffer.from('bench:').toString('base64')}`,
  'content-type',
  'application/json',
];

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const receiver = await startReceiver(folder);
  try {
    for (const rate of RATES) {
      const variants = {
        [`hooks serve, ${rate}/s`]: () => measure(startServe(folder, receiver.url), rate),
        'bare server': () => measure(startBare(folder, receiver.url), rate),
      };
      report(await interleave(variants, rounds), { quantities, print });
    }
  } finally {
    await receiver.stop();
  }
}

/**
 * @param {string} folder
 * @param {string} webhook
 */
function startServe(folder, webhook) {
  const data = mkdtempSync(join(folder, 'serve-'));
  const config = join(data, 'hooks.json');
  writeFileSync(
    config,
    JSON.stringify({ writeKey: 'bench', webhooks: [webhook], store: 'sqlite:./hooks.db' }),
  );
  return startCommand(['serve', '--port', '0', '--allow-private', '-q', '-c', config], { folder: data });
}

/**
 * @param {string} folder
 * @param {string} webhook
 */
function startBare(folder, webhook) {
  const data = mkdtempSync(join(folder, 'bare-'));
  return startProgram([BARE_SERVER, join(data, 'log'), webhook], { folder: data });
}

/**
 * Measures the CPU of a started server while single messages come, without its start and its end.
 *
 * @param {ReturnType<typeof startProgram>} starting
 * @param {number} rate messages a second
 */
async function measure(starting, rate) {
  const { url, pid, stop } = await starting;
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(url));
  const sent = { count: 0 };
  await post(clients, rate, { sent, seconds: 1 });
  const [before, count] = [cpuMs(pid), sent.count];
  await post(clients, rate, { sent, seconds: SECONDS });
  // Deliveries in flight end meanwhile.
  await sleep(300);
  const cpuUs = ((cpuMs(pid) - before) * 1000) / (sent.count - count);
  await Promise.all(clients.map((client) => client.close()));
  await stop();
  return { cpuUs };
}

/** Returns the CPU time of a process, which Linux counts in ticks of 10 ms. @param {number | undefined} pid */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * Posts one message after the other at a rate, without waiting for responses.
 *
 * @param {readonly Client[]} clients
 * @param {number} rate messages a second
 * @param {{ sent: { count: number }, seconds: number }} options
 */
async function post(clients, rate, { sent, seconds }) {
  const began = performance.now();
  const responses = [];
  for (let index = 0; index < rate * seconds; index++) {
    const waitMs = began + (index * 1000) / rate - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const client = clients[index % clients.length];
    responses.push(respond(client, message(sent.count++)));
  }
  await Promise.all(responses);
}

/**
 * @param {Client} client
 * @param {string} body
 */
async function respond(client, body) {
  const response = await client.request({ method: 'POST', path: '/v1/track', headers: HEADERS, body });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`);
}
