import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';
import { runNode } from './child.js';
import { writeMessages } from './messages.js';
import { report } from './report.js';
import { interleave } from './rounds.js';
import { timedShell } from './shell.js';

export const claim =
  'Reading NDJSON: finding the messages, compared with wc -l; then reading them without loss, then validating them too, compared with JSON.parse of each line';

const CHILD = fileURLToPath(new URL('reading-child.js', import.meta.url));
const PARTS = ['replay/reading/inputs.ts', 'replay/reading/read-entries.ts', 'cli/replay/entry-message.ts'];
const QUANTITIES = {
  ms: { name: 'ms', shown: (ms) => ms.toFixed(0) },
  cpuMs: { name: 'CPU ms', shown: (ms) => ms.toFixed(0) },
};

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, messages, print }) {
  const parts = await bundle(folder, PARTS);
  const file = join(folder, 'messages.ndjson');
  await writeMessages(file, messages, { context: true });
  print(`${messages} messages, ${(statSync(file).size / 1e6).toFixed(0)} MB`);
  const variant = (kind) => () => inChild([CHILD, parts, kind, file], { folder, messages });
  const { scan, wc, check, reading, parse } = await interleave(
    {
      scan: variant('scan'),
      wc: async () => countedBy(`wc -l < '${file}'`, messages),
      check: variant('check'),
      reading: variant('reading'),
      parse: variant('parse'),
    },
    rounds,
  );
  const options = { quantities: QUANTITIES, print };
  report({ 'entries of the file': scan, 'wc -l': wc }, options);
  report({ 'found and read without loss': check, 'JSON.parse of each line': parse }, options);
  report({ 'whole reading path': reading, 'JSON.parse of each line': parse }, options);
}

/**
 * @param {readonly string[]} args
 * @param {{ folder: string, messages: number }} options
 */
async function inChild(args, { folder, messages }) {
  const { code, stdout } = await runNode(args, { folder });
  if (code !== 0) throw new Error(`${args[2]}: exit ${code}`);
  const { found, ms, cpuMs } = JSON.parse(stdout);
  if (found !== messages) throw new Error(`${args[2]}: found ${found} of ${messages} messages`);
  return { ms, cpuMs };
}

/**
 * @param {string} script
 * @param {number} messages
 */
function countedBy(script, messages) {
  const { ms, cpuMs, stdout } = timedShell(script);
  if (Number(stdout) !== messages) throw new Error(`${script}: ${stdout} of ${messages} lines`);
  return { ms, cpuMs };
}
