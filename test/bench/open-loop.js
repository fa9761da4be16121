import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnv, HOOKS, runNode, startProgram } from './child.js';
import { writeMessages } from './messages.js';
import { startReceiver } from './receiver.js';

export const claim =
  'Load: latency of a receiver that stalls, in an open and in a closed loop; rates that hold; the search of a planted limit';

const LIMITED = fileURLToPath(new URL('limited-receiver.js', import.meta.url));
const AUTOCANNON = fileURLToPath(new URL('autocannon-child.js', import.meta.url));
/** Three periods of the stall. */
const STALLED_SECONDS = 30;
const CLOSED_CONNECTIONS = 10;
/** 2 s × (1 − 0.01 / 0.2): a fifth of the messages waits up to 2 s, evenly. */
const EXPECTED_P99_MS = 1_900;
const PLANTED = 300;
const WORKERS = 2;
const SHARES = [0.2, 0.4, 0.6, 0.8];

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, print }) {
  const file = join(folder, 'messages.ndjson');
  await writeMessages(file, 1_000);
  await stalled({ folder, file }, print);
  await held({ folder, file }, print);
  await planted({ folder, file }, print);
}

/**
 * Runs a load, and returns its result.
 *
 * @param {{ folder: string, file: string }} place
 * @param {string} url
 * @param {readonly string[]} flags
 */
async function load({ folder, file }, url, flags) {
  const args = [
    HOOKS,
    'replay',
    file,
    '--url',
    url,
    '--secret',
    's',
    '--no-config',
    '--loop',
    '-q',
    '-o',
    'json',
  ];
  const { ms, stdout } = await runNode([...args, ...flags], { folder });
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!last.includes('"load"')) throw new Error(`Expected the result of a load, got ${stdout.slice(0, 300)}`);
  return { wallMs: ms, ...JSON.parse(last).summary.load };
}

/** @typedef {{ folder: string, file: string }} Place */

/**
 * @param {Place} place
 * @param {(line: string) => void} print
 */
async function stalled(place, print) {
  const receiver = await startProgram([LIMITED, 'stall'], place);
  const flags = ['--load', '200/s', '--for', `${STALLED_SECONDS}s`];
  const { latencyMs, serviceMs, sent, verdict } = await load(place, receiver.url, flags);
  const args = [AUTOCANNON, receiver.url, place.file, CLOSED_CONNECTIONS, 'same-work', STALLED_SECONDS];
  const closed = spawnSync(process.execPath, args.map(String), { encoding: 'utf8', env: cleanEnv() });
  const { p99, delivered } = JSON.parse(closed.stdout);
  await receiver.stop();
  const off = (100 * (latencyMs.p99 - EXPECTED_P99_MS)) / EXPECTED_P99_MS;
  print(`2 s of stall every 10 s, by arithmetic:   p99 ${EXPECTED_P99_MS} ms`);
  print(
    `hooks, 200/s:   p99 ${latencyMs.p99} ms (${off.toFixed(1)} % off), service p99 ${serviceMs.p99} ms, ${sent} messages, ${verdict}`,
  );
  print(`autocannon, ${CLOSED_CONNECTIONS} connections, unpaced:   p99 ${p99} ms, ${delivered} messages`);
}

/**
 * Measures the most that one thread sends, that several send, and how well one holds shares of its most.
 *
 * @param {Place} place
 * @param {(line: string) => void} print
 */
async function held(place, print) {
  const receiver = await startReceiver(place.folder);
  const flags = ['--load', '100000/s', '--for', '8s', '--concurrency', '64'];
  const { rate: most } = await load(place, receiver.url, flags);
  print(`most that one thread sends (receiver: ${receiver.name}):   ${Math.round(most)}/s`);
  const { rate: together } = await load(place, receiver.url, [...flags, '--workers', String(WORKERS)]);
  const gain = (together / most).toFixed(2);
  print(
    `most that ${WORKERS} threads send, on ${availableParallelism()} cores that the receiver shares:   ${Math.round(together)}/s, ${gain} times as many`,
  );
  for (const share of SHARES) {
    const rate = Math.round(most * share);
    const result = await load(place, receiver.url, ['--load', `${rate}/s`, '--for', '10s', '--warmup', '2s']);
    const off = (100 * (result.rate - rate)) / rate;
    print(
      `${share * 100} %, ${rate}/s:   ${result.rate}/s (${off.toFixed(2)} % off), behind p99 ${result.behindMs.p99} ms, ${result.errors} errors`,
    );
  }
  await receiver.stop();
}

/**
 * @param {Place} place
 * @param {(line: string) => void} print
 */
async function planted(place, print) {
  const receiver = await startProgram([LIMITED, 'bucket'], place);
  const flags = ['--load', 'max', '--for', '2m', '--slo', 'p99<250ms,errors<1%'];
  const { max, wallMs } = await load(place, receiver.url, flags);
  await receiver.stop();
  const off = (100 * (max.rate - PLANTED)) / PLANTED;
  print(
    `planted limit of ${PLANTED}/s:   found ${max.rate}/s (${off.toFixed(1)} % off) in ${Math.round(wallMs / 1_000)} s, ${max.curve.length} steps`,
  );
}
