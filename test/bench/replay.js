import { join } from 'node:path';
import { HOOKS, runNode } from './child.js';
import { writeMessages } from './messages.js';
import { startReceiver } from './receiver.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim =
  'Replay: reading, signing and sending, compared with autocannon doing the same work per request';

const AUTOCANNON = new URL('autocannon-child.js', import.meta.url).pathname;
const CONNECTIONS = 32;

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, messages, print }) {
  const file = join(folder, 'messages.ndjson');
  await writeMessages(file, messages);
  const receiver = await startReceiver(folder);
  try {
    print(`${messages} messages, ${CONNECTIONS} connections, receiver: ${receiver.name}`);
    const place = { folder, file, url: receiver.url };
    const variants = { hooks: () => hooks(place, messages), autocannon: () => autocannon(place) };
    report(await interleave(variants, rounds), print);
  } finally {
    await receiver.stop();
  }
}

/** @typedef {{ folder: string, file: string, url: string }} Place */

/**
 * The whole command, from its start to its end.
 *
 * @param {Place} place
 * @param {number} messages
 */
async function hooks({ folder, file, url }, messages) {
  const to = ['--url', url, '--secret', 's', '--concurrency', String(CONNECTIONS), '--no-config'];
  const args = [HOOKS, 'replay', file, ...to, '-o', 'json', '-q'];
  const { code, ms, cpuMs, stdout } = await runNode(args, { folder, usage: true });
  const delivered = deliveredIn(stdout);
  if (code !== 0 || delivered !== messages) {
    throw new Error(`hooks replay: exit ${code}, ${delivered} of ${messages} messages delivered`);
  }
  return { perSecond: (messages / ms) * 1000, cpuUs: (cpuMs / messages) * 1000 };
}

/** @param {string} stdout */
function deliveredIn(stdout) {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{"summary"') ? JSON.parse(last).summary.delivered : 0;
}

/**
 * Only its sending time: its own start is left out, in its favour.
 *
 * @param {Place} place
 */
async function autocannon({ folder, file, url }) {
  const args = [AUTOCANNON, url, file, String(CONNECTIONS)];
  const { code, cpuMs, stdout } = await runNode(args, { folder, usage: true });
  if (code !== 0) throw new Error(`autocannon: exit ${code}`);
  const { delivered, seconds } = JSON.parse(stdout);
  return { perSecond: delivered / seconds, cpuUs: (cpuMs / delivered) * 1000 };
}

/**
 * @param {Record<string, import('./rounds.js').Measurement[]>} results
 * @param {(line: string) => void} print
 */
function report(results, print) {
  for (const [name, measurements] of Object.entries(results)) {
    const perSecond = spread(values(measurements, 'perSecond'), (number) => `${Math.round(number)}/s`);
    const cpu = spread(values(measurements, 'cpuUs'), (number) => `${number.toFixed(1)} µs`);
    print(`${name.padEnd(12)} ${perSecond.padEnd(34)} CPU a message ${cpu}`);
  }
  for (const [quantity, name] of [
    ['perSecond', 'messages a second'],
    ['cpuUs', 'CPU a message'],
  ]) {
    const shown = spread(
      ratios(results.hooks, results.autocannon, quantity),
      (ratio) => `${ratio.toFixed(2)}×`,
    );
    print(`hooks ÷ autocannon, ${name}: ${shown}`);
  }
}
