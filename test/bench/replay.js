import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOOKS, runNode } from './child.js';
import { COUNTED, NO_COUNTERS, readCounts } from './counters.js';
import { loadGenerators } from './load-generators.js';
import { writeMessages } from './messages.js';
import { startReceiver } from './receiver.js';
import { report } from './report.js';
import { interleave } from './rounds.js';

export const claim =
  'Replay of 1 KB messages, signed: compared with a bare loop over undici, and with autocannon doing the same work or none';

const AUTOCANNON = fileURLToPath(new URL('autocannon-child.js', import.meta.url));
const BARE_LOOP = fileURLToPath(new URL('bare-loop-child.js', import.meta.url));
const QUANTITIES = {
  perSecond: { name: 'messages a second', shown: (number) => String(Math.round(number)) },
  cpuUs: { name: 'CPU µs a message', shown: (number) => number.toFixed(1) },
  ...COUNTED,
  peakMb: { name: 'peak memory, MB', shown: (number) => number.toFixed(0) },
};
const CONNECTIONS = 32;

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, messages, print }) {
  const file = join(folder, 'messages.ndjson');
  await writeMessages(file, messages, { context: true });
  const receiver = await startReceiver(folder);
  try {
    print(`${messages} messages, ${CONNECTIONS} connections, receiver: ${receiver.name}`);
    if (NO_COUNTERS !== undefined) print(`no instructions and cycles: ${NO_COUNTERS}`);
    const place = { folder, file, url: receiver.url };
    const variants = {
      hooks: () => replay(place, messages),
      'bare loop': () => peer(BARE_LOOP, place),
      'autocannon, same work': () => peer(AUTOCANNON, place, 'same-work'),
      'autocannon, fixed body': () => peer(AUTOCANNON, place, 'fixed-body'),
    };
    const limits = loadGenerators(place, { connections: CONNECTIONS, messages, print });
    const results = await interleave({ ...variants, ...limits }, rounds);
    /** @param {object} names */
    const resultsOf = (names) => Object.fromEntries(Object.keys(names).map((name) => [name, results[name]]));
    report(resultsOf(variants), {
      quantities: QUANTITIES,
      print,
      compared: ['perSecond', 'cpuUs', ...Object.keys(COUNTED)],
    });
    // The memory and instructions of load generators are not measured.
    const { perSecond, cpuUs } = QUANTITIES;
    report(resultsOf({ hooks: variants.hooks, ...limits }), { quantities: { perSecond, cpuUs }, print });
  } finally {
    await receiver.stop();
  }
}

/** @typedef {{ folder: string, file: string, url: string }} Place */

/**
 * Measures the whole command, from its start to its end.
 *
 * @param {Place} place
 * @param {number} messages
 */
export async function replay({ folder, file, url }, messages) {
  const to = ['--url', url, '--secret', 's', '--concurrency', String(CONNECTIONS), '--no-config'];
  const args = [HOOKS, 'replay', file, ...to, '-o', 'json', '-q'];
  const { code, ms, cpuMs, peakMb, stdout } = await runNode(args, { folder, usage: true });
  const delivered = deliveredIn(stdout);
  if (code !== 0 || delivered !== messages) {
    throw new Error(`hooks replay: exit ${code}, ${delivered} of ${messages} messages delivered`);
  }
  const counts = readCounts(join(folder, 'counts'), messages);
  return { perSecond: (messages / ms) * 1000, cpuUs: (cpuMs / messages) * 1000, ...counts, peakMb };
}

/** @param {string} stdout */
function deliveredIn(stdout) {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{"summary"') ? JSON.parse(last).summary.delivered : 0;
}

/**
 * Measures another program by its sending time only: its start is omitted, in its favor.
 *
 * @param {string} program
 * @param {Place} place
 * @param {'same-work' | 'fixed-body'} [kind] of autocannon
 */
async function peer(program, { folder, file, url }, kind) {
  const args = [program, url, file, String(CONNECTIONS), ...(kind === undefined ? [] : [kind])];
  const { code, cpuMs, peakMb, stdout } = await runNode(args, { folder, usage: true });
  if (code !== 0) throw new Error(`${program}: exit ${code}`);
  const { delivered, seconds } = JSON.parse(stdout);
  const counts = readCounts(join(folder, 'counts'), delivered);
  return { perSecond: delivered / seconds, cpuUs: (cpuMs / delivered) * 1000, ...counts, peakMb };
}
