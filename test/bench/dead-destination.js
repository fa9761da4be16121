import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCommand } from './child.js';
import { message } from './messages.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim =
  'A dead destination does not slow a healthy one: from the call to the receiver, with and without one beside it';

const PER_SECOND = 100;
const CALLS = 1_000;
/** What has piled up for the dead one before, and is tried again all the while. */
const PILED_UP = 10_000;
const HEADERS = {
  authorization: `Basic ${Buffer.from('bench:').toString('base64')}`,
  'content-type': 'application/json',
};

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  print(`${CALLS} calls, ${PER_SECOND} a second; ${PILED_UP} deliveries wait for the dead destination`);
  const silent = createSocketServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const results = await interleave(
      {
        alone: () => measured(folder),
        'beside a silent one': () => measured(folder, urlOf(silent)),
        'beside one that refuses': () => measured(folder, 'http://127.0.0.1:1/'),
      },
      rounds,
    );
    report(results, print);
  } finally {
    silent.close();
  }
}

/**
 * @param {Record<string, import('./rounds.js').Measurement[]>} results
 * @param {(line: string) => void} print
 */
function report(results, print) {
  const { alone, ...others } = results;
  for (const [name, measurements] of Object.entries(results)) {
    for (const quantity of ['p50', 'p99']) {
      const times = spread(values(measurements, quantity), (ms) => `${ms.toFixed(1)} ms`);
      print(`${name}, ${quantity}:`.padEnd(32) + times);
    }
    print(`${name}, CPU:`.padEnd(32) + spread(values(measurements, 'cpuMs'), (ms) => `${ms.toFixed(0)} ms`));
  }
  for (const [name, measurements] of Object.entries(others)) {
    print(
      `p99 ${name} ÷ alone: ${spread(ratios(measurements, alone, 'p99'), (ratio) => `${ratio.toFixed(2)}×`)}`,
    );
  }
}

/**
 * How long calls take to come to the healthy receiver through a service of their own.
 *
 * @param {string} folder
 * @param {string} [deadUrl]
 */
async function measured(folder, deadUrl) {
  const data = mkdtempSync(join(folder, 'data-'));
  const receiver = await startClock();
  const config = join(data, 'config.json');
  writeFileSync(config, JSON.stringify(configOf(receiver.url, deadUrl)));
  const args = ['serve', '-c', config, '--port', '0', '--allow-private', '-q'];
  const serve = await startCommand(args, { folder: data });
  try {
    if (deadUrl !== undefined) await pileUp(serve.url);
    await callAll(serve.url);
    for (let turn = 0; turn < 500 && receiver.took.size < CALLS; turn++) await sleep(20);
    if (receiver.took.size < CALLS) throw new Error(`${receiver.took.size} of ${CALLS} calls came`);
  } finally {
    receiver.close();
  }
  const { cpuMs } = await serve.stop();
  const sorted = [...receiver.took.values()].toSorted((a, b) => a - b);
  return { p50: sorted[CALLS * 0.5], p99: sorted[CALLS * 0.99], cpuMs };
}

/** A receiver that notes how long each call took to come to it, in ms. */
async function startClock() {
  /** @type {Map<number, number>} */
  const took = new Map();
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part) => (text += part));
    request.on('end', () => {
      response.end('ok');
      const { number, sentAt } = JSON.parse(text).properties;
      took.set(number, performance.now() - sentAt);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: urlOf(server), took, close };
}

/**
 * @param {string} healthyUrl
 * @param {string | undefined} deadUrl
 */
function configOf(healthyUrl, deadUrl) {
  const destinations = {
    Healthy: { webhooks: [healthyUrl] },
    ...(deadUrl !== undefined && { Dead: { webhooks: [deadUrl] } }),
  };
  return { sources: { web: { writeKey: 'bench', destinations } } };
}

/** @param {string} url */
async function pileUp(url) {
  const integrations = { All: false, Dead: true };
  for (let from = 0; from < PILED_UP; from += 500) {
    const batch = Array.from({ length: 500 }, (_, index) => JSON.parse(message(from + index)));
    await post(`${url}/v1/batch`, { batch, integrations });
  }
}

/**
 * Each at its time, whatever becomes of those before.
 *
 * @param {string} url
 */
async function callAll(url) {
  const began = performance.now();
  /** @type {Promise<void>[]} */
  const calls = [];
  for (let number = 0; number < CALLS; number++) {
    await sleep(began + (number * 1000) / PER_SECOND - performance.now());
    const properties = { number, sentAt: performance.now() };
    calls.push(post(`${url}/v1/track`, { userId: 'u', event: 'Called', properties }));
  }
  await Promise.all(calls);
}

/**
 * @param {string} url
 * @param {object} body
 */
async function post(url, body) {
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** @param {import('node:net').Server} server */
function urlOf(server) {
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/`;
}
