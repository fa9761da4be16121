import { createHmac } from 'node:crypto';
import { HOOKS, runNode } from './child.js';
import { message } from './messages.js';
import { startReceiver } from './receiver.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim = 'Start-up: a command is there at once, compared with Node doing nothing';

const BODY = message(1);
const SIGNATURE = createHmac('sha1', 's').update(BODY).digest('hex');

/** @typedef {{ args: readonly string[], input?: string, says: RegExp }} Command `says` proves that it did its work */

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const receiver = await startReceiver(folder);
  try {
    const commands = await usable(commandLines(receiver.url), { folder, print });
    const variants = Object.fromEntries(
      Object.entries(commands).map(([name, command]) => [name, () => measured(command, folder)]),
    );
    const results = await interleave(variants, Math.max(11, rounds));
    const baseline = results['node -e 0'];
    for (const [name, measurements] of Object.entries(results)) {
      const times = spread(values(measurements, 'ms'), (ms) => `${ms.toFixed(0)} ms`);
      print(
        `${name.padEnd(14)} ${times.padEnd(26)} ${spread(ratios(measurements, baseline, 'ms'), asRatio)}`,
      );
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
    'node -e 0': { args: ['-e', '0'], says: /^$/ },
    'hooks --help': { args: [HOOKS, '--help'], says: /Usage: hooks/ },
    'hooks verify': {
      args: [HOOKS, 'verify', '--secret', 's', '--signature', SIGNATURE, '-o', 'json'],
      input: BODY,
      says: /"valid":true/,
    },
    'hooks send': {
      args: [HOOKS, 'send', 'track', '--event', 'Signup', '--user-id', 'u', ...to],
      says: /"outcome":"delivered"/,
    },
  };
}

/**
 * Leaves out what does not do its work, and says so: its time would mean nothing.
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
    else
      print(`${name.padEnd(14)} not measured: exit ${code}, and its output does not match ${command.says}`);
  }
  return kept;
}

/**
 * @param {Command} command
 * @param {string} folder
 */
async function measured({ args, input }, folder) {
  const { ms } = await runNode(args, { folder, input });
  return { ms };
}

/** @param {number} ratio */
function asRatio(ratio) {
  return `${ratio.toFixed(2)}×`;
}
