import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNode } from './child.js';
import { COUNTED, NO_COUNTERS, readCounts } from './counters.js';
import { report } from './report.js';
import { interleave } from './rounds.js';

export const claim =
  "Batching client: 100,000 tracks to a local receiver in batches of 20, compared with Segment's";

const MESSAGES = 100_000;
const CHILD = fileURLToPath(new URL('client-child.js', import.meta.url));
const LEAN_RECEIVER = fileURLToPath(new URL('lean-receiver.js', import.meta.url));
const QUANTITIES = {
  perSecond: { name: 'messages a second', shown: (number) => number.toFixed(0) },
  cpuUs: { name: 'CPU µs a message', shown: (number) => number.toFixed(1) },
  ...COUNTED,
  peakMb: { name: 'peak memory, MB', shown: (number) => number.toFixed(0) },
};

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const receiver = spawn(process.execPath, [LEAN_RECEIVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(receiver.stdout, 'data');
  const url = `http://127.0.0.1:${Number(port)}`;
  try {
    if (NO_COUNTERS !== undefined) print(`no instructions and cycles: ${NO_COUNTERS}`);
    const variant = (name) => async () => measured([CHILD, name, url, String(MESSAGES)], folder);
    const variants = { hooks: variant('hooks'), '@segment/analytics-node': variant('segment') };
    report(await interleave(variants, rounds), { quantities: QUANTITIES, print });
  } finally {
    receiver.stdin.end();
    await once(receiver, 'exit');
  }
}

/**
 * Measures from the first call to the last response, without the time of loading.
 *
 * @param {readonly string[]} args
 * @param {string} folder
 */
async function measured(args, folder) {
  const { code, stdout, peakMb } = await runNode(args, { folder, usage: true });
  if (code !== 0) throw new Error(`${args[1]}: exit ${code}`);
  const { sent, ms, cpuMs } = JSON.parse(stdout);
  if (sent !== MESSAGES) throw new Error(`${args[1]}: ${sent} of ${MESSAGES} were sent`);
  const counts = readCounts(join(folder, 'counts'), MESSAGES);
  return { perSecond: (MESSAGES / ms) * 1000, cpuUs: (cpuMs / MESSAGES) * 1000, ...counts, peakMb };
}
