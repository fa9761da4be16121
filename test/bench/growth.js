import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOOKS, runNode } from './child.js';
import { writeMessages } from './messages.js';
import { startReceiver } from './receiver.js';
import { replay } from './replay.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim = 'Growth: twice the messages take twice the time and the same memory (1×, 2×, 4×)';

const TIMES = [1, 2, 4];

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, messages, print }) {
  const receiver = await startReceiver(folder);
  const place = { folder, url: receiver.url };
  const smallest = Math.ceil(messages / 4);
  try {
    await prepare(place, smallest);
    print(`${smallest} messages or members, twice and four times as many (receiver: ${receiver.name})`);
    await table('replay', (count) => replayed(place, count), { smallest, rounds, print });
    await table('replay --queue', (count) => queued(place, count), { smallest, rounds, print });
    await table('audience sync', (count) => synced(place, count), { smallest, rounds, print });
  } finally {
    await receiver.stop();
  }
}

/** @typedef {{ folder: string, url: string }} Place */

/**
 * @param {Place} place
 * @param {number} smallest
 */
async function prepare({ folder, url }, smallest) {
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ webhooks: [url] }));
  for (const times of TIMES) {
    const count = smallest * times;
    await writeMessages(join(folder, `${count}.ndjson`), count, { context: true });
    const members = Array.from({ length: count }, (_, index) => `user-${index}\n`);
    writeFileSync(join(folder, `${count}.txt`), members.join(''));
  }
}

/**
 * @param {string} name
 * @param {(count: number) => Promise<import('./rounds.js').Measurement>} measure
 * @param {{ smallest: number, rounds: number, print: (line: string) => void }} options
 */
async function table(name, measure, { smallest, rounds, print }) {
  const variants = Object.fromEntries(TIMES.map((times) => [`${times}×`, () => measure(smallest * times)]));
  const results = await interleave(variants, rounds);
  for (const [times, measurements] of Object.entries(results)) {
    const cpu = spread(ratios(measurements, results['1×'], 'cpuMs'), (ratio) => `${ratio.toFixed(2)}×`);
    const seconds = spread(values(measurements, 'ms'), (ms) => (ms / 1000).toFixed(1));
    const memory = spread(values(measurements, 'peakMb'), (mb) => mb.toFixed(0));
    print(`${name}, ${times}: CPU ${cpu}; ${seconds} s; ${memory} MB`);
  }
}

/**
 * @param {Place} place
 * @param {number} count
 */
async function replayed({ folder, url }, count) {
  const { perSecond, cpuUs, peakMb } = await replay(
    { folder, url, file: join(folder, `${count}.ndjson`) },
    count,
  );
  return { ms: (count / perSecond) * 1000, cpuMs: (cpuUs * count) / 1000, peakMb };
}

/**
 * @param {Place} place
 * @param {number} count
 */
function queued(place, count) {
  return withStore(place, ['replay', join(place.folder, `${count}.ndjson`), '--queue', '-q']);
}

/**
 * A first sync, which sends every member.
 *
 * @param {Place} place
 * @param {number} count
 */
function synced(place, count) {
  return withStore(place, ['audience', 'sync', 'Bench', join(place.folder, `${count}.txt`), '-q']);
}

/**
 * @param {Place} place
 * @param {readonly string[]} words
 */
async function withStore({ folder }, words) {
  const store = join(folder, 'growth.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${store}${suffix}`, { force: true });
  const args = [HOOKS, ...words, '-o', 'json', '-c', join(folder, 'hooks.json'), '--store', store];
  const { code, ms, cpuMs, peakMb, stdout } = await runNode(args, { folder, usage: true });
  if (code !== 0) throw new Error(`hooks ${words.join(' ')}: exit ${code}, ${stdout.slice(-300)}`);
  return { ms, cpuMs, peakMb };
}
