import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import { bundle } from './bundle.js';
import { runNode, startProgram } from './child.js';
import { message } from './messages.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim =
  'Durable ingest: batches of 20 on disk before the response, and one message on disk after the other';

const INGEST_CHILD = fileURLToPath(new URL('ingest-child.js', import.meta.url));
const PARTS = [
  'clock.ts',
  'engine/options.ts',
  'queue/checksum.ts',
  'stores/open.ts',
  'app/open-engine.ts',
  'app/service/run-service.ts',
];
const BATCH = 20;
const BATCHES = 3_000;
const CONNECTIONS = 32;
const HEADERS = [
  'authorization',
  `Basic ${Buffer.from('bench:').toString('base64')}`,
  'content-type',
  'application/json',
];

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const parts = await bundle(folder, PARTS);
  print(`${BATCHES} batches of ${BATCH} over ${CONNECTIONS} connections`);
  const place = { folder, parts };
  const variants = {
    durable: () => batches(place, 'durable'),
    'not stored': () => batches(place, 'unstored'),
    // Both variants take turns in one process.
    one: () => inChild(place, 'one'),
    checksum: () => inChild(place, 'checksum'),
  };
  const { one, checksum, ...results } = await interleave(variants, rounds);
  report(results, print);
  const share = spread(ratios(checksum, results.durable, 'cpuUs'), (part) => `${(100 * part).toFixed(1)} %`);
  print(`checksum of a body ÷ durable, CPU:        ${share}`);
  report(
    {
      'one durable message': one.map(({ durable }) => durable),
      'write and fdatasync': one.map((each) => each.plain),
    },
    print,
  );
}

/**
 * @param {Record<string, import('./rounds.js').Measurement[]>} results of two
 * @param {(line: string) => void} print
 */
function report(results, print) {
  for (const [name, measurements] of Object.entries(results)) {
    const perSecond = spread(values(measurements, 'perSecond'), (number) => number.toFixed(0));
    const cpuUs = spread(values(measurements, 'cpuUs'), (number) => number.toFixed(1));
    print(`${name}, messages a second:`.padEnd(42) + perSecond);
    print(`${name}, CPU µs a message:`.padEnd(42) + cpuUs);
    if (measurements.every((each) => 'p99Ms' in each)) {
      const p99Ms = spread(values(measurements, 'p99Ms'), (number) => number.toFixed(1));
      print(`${name}, p99 of a batch, ms:`.padEnd(42) + p99Ms);
    }
  }
  const [[name, ours], [otherName, theirs]] = Object.entries(results);
  const ratio = spread(ratios(ours, theirs, 'perSecond'), (number) => `${number.toFixed(2)}×`);
  print(`${name} ÷ ${otherName}, messages a second: ${ratio}`);
}

/** @typedef {{ folder: string, parts: string }} Place */

/**
 * Measures a new service with a caller for each connection, which has one batch in flight.
 *
 * @param {Place} place
 * @param {'durable' | 'unstored'} step
 */
async function batches({ folder, parts }, step) {
  const data = mkdtempSync(join(folder, 'data-'));
  const service = await startProgram(
    [INGEST_CHILD, parts, JSON.stringify({ step, file: join(data, 'hooks.db') })],
    {
      folder: data,
    },
  );
  let next = 0;
  /** @type {number[]} */
  const latencies = [];
  const call = async () => {
    const client = new Client(service.url);
    while (next < BATCHES) {
      const body = batchOf(next++);
      const sentAt = performance.now();
      await post(client, body);
      latencies.push(performance.now() - sentAt);
    }
    await client.close();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, call));
  const ms = performance.now() - began;
  const { cpuMs } = await service.stop();
  const messages = BATCHES * BATCH;
  latencies.sort((one, other) => one - other);
  const p99Ms = latencies[Math.floor(0.99 * latencies.length)] ?? NaN;
  return { perSecond: (messages * 1000) / ms, cpuUs: (cpuMs * 1000) / messages, p99Ms };
}

/** @param {number} number */
function batchOf(number) {
  const messages = Array.from({ length: BATCH }, (_, index) => message(number * BATCH + index));
  return `{"batch":[${messages.join(',')}]}`;
}

/**
 * @param {Client} client
 * @param {string} body
 */
async function post(client, body) {
  const { statusCode, body: answer } = await client.request({
    method: 'POST',
    path: '/v1/batch',
    headers: HEADERS,
    body,
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`the service responded with ${statusCode}: ${text}`);
}

/**
 * Runs a child that measures itself.
 *
 * @param {Place} place
 * @param {'one' | 'checksum'} name
 */
async function inChild({ folder, parts }, name) {
  const file = join(mkdtempSync(join(folder, 'data-')), 'hooks.db');
  const { code, stdout } = await runNode([INGEST_CHILD, parts, JSON.stringify({ step: name, file })], {
    folder,
  });
  if (code !== 0) throw new Error(`${name}: exit ${code}`);
  return JSON.parse(stdout);
}
