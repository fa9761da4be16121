import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOOKS, runNode } from './child.js';
import { message } from './messages.js';
import { startReceiver } from './receiver.js';
import { report } from './report.js';
import { interleave } from './rounds.js';
import { timedShell } from './shell.js';

export const claim = 'Start-up: a command is there at once, compared with Node doing nothing';

const QUANTITIES = {
  ms: { name: 'ms', shown: (ms) => ms.toFixed(0) },
  cpuMs: { name: 'CPU ms', shown: (ms) => ms.toFixed(0) },
};
const NOTHING = 'node -e 0';
const BODY = message(1);
const SIGNATURE = createHmac('sha1', 's').update(BODY).digest('hex');

/** @typedef {{ args: readonly string[], input?: string, says: RegExp }} Command `says` matches the output of a command that worked */

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const receiver = await startReceiver(folder);
  try {
    const commands = await usable(commandLines(receiver.url), { folder, print });
    const variants = Object.fromEntries(
      Object.entries(commands).map(([name, command]) => [name, () => measured(command, folder)]),
    );
    const { [NOTHING]: baseline, ...results } = await interleave(variants, Math.max(11, rounds));
    for (const [name, measurements] of Object.entries(results)) {
      report({ [name]: measurements, [NOTHING]: baseline }, { quantities: QUANTITIES, print });
    }
  } finally {
    await receiver.stop();
  }
}

/**
 * @param {string} url
 * @returns {Readonly<Record<string, Command>>}
 */
function commandLines(url) {
  const to = ['--url', url, '--secret', 's', '--no-config', '-o', 'json'];
  return {
    [NOTHING]: { args: ['-e', '0'], says: /^$/ },
    'hooks --help': { args: [HOOKS, '--help'], says: /Usage: hooks/ },
    'hooks verify': {
      args: [HOOKS, 'verify', '--secret', 's', '--signature', SIGNATURE, '-o', 'json'],
      input: BODY,
      says: /"valid":true/,
    },
    'hooks sign': {
      args: [HOOKS, 'sign', '--secret', 's'],
      input: BODY,
      says: new RegExp(`^${SIGNATURE}$`, 'm'),
    },
    'hooks send': {
      args: [HOOKS, 'send', 'track', '--event', 'Signup', '--user-id', 'u', ...to],
      says: /"outcome":"delivered"/,
    },
  };
}

/**
 * Returns the commands that work. Prints which do not, because their time would mean nothing.
 *
 * @param {Readonly<Record<string, Command>>} commands
 * @param {Pick<import('./run.js').Bench, 'folder' | 'print'>} bench
 */
async function usable(commands, { folder, print }) {
  /** @type {Record<string, Command>} */
  const kept = {};
  for (const [name, command] of Object.entries(commands)) {
    const { code, stdout } = await runNode(command.args, { folder, input: command.input ?? '' });
    if (code === 0 && command.says.test(stdout)) kept[name] = command;
    else {
      print(`${name.padEnd(14)} not measured: exit ${code}, and its output does not match ${command.says}`);
    }
  }
  return kept;
}

/**
 * Measures the time, and the CPU time, because on a busy machine the time alone says little.
 *
 * @param {Command} command
 * @param {string} folder
 */
async function measured({ args, input = '' }, folder) {
  const stdin = join(folder, 'stdin');
  writeFileSync(stdin, input);
  const words = [process.execPath, ...args].map((word) => `'${word}'`);
  const { ms, cpuMs } = timedShell(`${words.join(' ')} < '${stdin}' > '${join(folder, 'stdout')}'`);
  return { ms, cpuMs };
}
