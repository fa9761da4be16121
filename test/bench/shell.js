import { execFileSync } from 'node:child_process';
import { cleanEnv } from './child.js';

/**
 * Runs a line of bash to its end, and measures all its processes.
 *
 * @param {string} script
 * @param {{ env?: NodeJS.ProcessEnv }} [options] `env` besides that of this process
 * @returns {{ ms: number, cpuMs: number, stdout: string }}
 */
export function timedShell(script, { env = {} } = {}) {
  // The time goes to a separate descriptor, so that it is not mixed with the output of the script.
  const words = ['-c', `TIMEFORMAT='%R %U %S'; { time { ${script}; } 1>&3; } 2>&1 3>&1`];
  const output = execFileSync('bash', words, {
    encoding: 'utf8',
    env: { ...cleanEnv(), ...env, LC_ALL: 'C' },
  });
  const lines = output.trimEnd().split('\n');
  const [real, user, system] = (lines.pop() ?? '').split(' ').map(Number);
  return { ms: real * 1000, cpuMs: (user + system) * 1000, stdout: lines.join('\n') };
}
