import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnv, HOOKS } from './child.js';
import { writeMessages } from './messages.js';
import { startReceiver } from './receiver.js';
import { report } from './report.js';

export const claim =
  'User instructions a message, counted once by valgrind: of the last 24,000 of 36,000, so that starting and compiling do not count';

const [FEW, MANY] = [12_000, 36_000];
const CONNECTIONS = 32;
const BARE_LOOP = fileURLToPath(new URL('bare-loop-child.js', import.meta.url));
const CLIENT = fileURLToPath(new URL('client-child.js', import.meta.url));
const COUNTING = [
  '--tool=cachegrind',
  '--cache-sim=no',
  '--cachegrind-out-file=/dev/null',
  '--smc-check=all-non-file',
];
const quantities = {
  instructions: {
    name: 'instructions a message',
    shown: (/** @type {number} */ number) => number.toFixed(0),
  },
};

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, print }) {
  if (spawnSync('valgrind', ['--version']).error !== undefined) {
    throw new Error('valgrind is not installed (Debian: apt-get install valgrind)');
  }
  const receiver = await startReceiver(folder);
  const { url } = receiver;
  try {
    const files = await writeFiles(folder, 'as sent', (line) => line);
    const others = await writeFiles(folder, 'another order', reordered);
    const to = ['--url', url, '--secret', 's', '--concurrency', String(CONNECTIONS), '--no-config'];
    const replay = (file) => [HOOKS, 'replay', file, ...to, '-o', 'json', '-q'];
    const bareLoop = (file) => [BARE_LOOP, url, file, String(CONNECTIONS)];
    const bare = [{ instructions: slope((count) => bareLoop(files[count])) }];
    const compare = (name, ours, peer, theirs) =>
      report({ [name]: [{ instructions: slope(ours) }], [peer]: theirs }, { quantities, print });
    compare('hooks replay', (count) => replay(files[count]), 'bare loop', bare);
    compare('hooks replay, another order', (count) => replay(others[count]), 'bare loop', bare);
    const client = (kind) => (count) => [CLIENT, kind, new URL(url).origin, String(count)];
    const segment = [{ instructions: slope(client('segment')) }];
    compare('hooks client', client('hooks'), '@segment/analytics-node', segment);
  } finally {
    await receiver.stop();
  }
}

/**
 * Measures the cost of one more message.
 *
 * @param {(count: number) => readonly string[]} argsFor of Node
 */
function slope(argsFor) {
  return (counted(argsFor(MANY)) - counted(argsFor(FEW))) / (MANY - FEW);
}

/** @param {readonly string[]} args of Node */
function counted(args) {
  const { status, stderr } = spawnSync('valgrind', [...COUNTING, process.execPath, ...args], {
    encoding: 'utf8',
    env: cleanEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 600_000,
  });
  const [, count] = /I +refs: +([\d,]+)/.exec(stderr) ?? [];
  if (status !== 0 || count === undefined) throw new Error(`${args[0]}: exit ${status}, no count`);
  return Number(count.replaceAll(',', ''));
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {(line: string) => string} change
 * @returns {Promise<Record<number, string>>} a file by the number of its messages
 */
async function writeFiles(folder, name, change) {
  const files = Object.fromEntries(
    [FEW, MANY].map((count) => [count, join(folder, `${name} ${count}.ndjson`)]),
  );
  for (const [count, file] of Object.entries(files)) {
    await writeMessages(file, Number(count), { context: true });
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, `${lines.map(change).join('\n')}\n`);
  }
  return files;
}

/** Returns the message with its last fields first, so that a body has another order. @param {string} line */
function reordered(line) {
  const { context, messageId, ...others } = JSON.parse(line);
  return JSON.stringify({ messageId, context, ...others });
}
