import { spawnSync } from 'node:child_process';

/** Returns whether a program that a test needs is installed. Prints a note if it is missing, and throws on CI. */
export function hasTool(command: string, versionFlag: string): boolean {
  const isThere = spawnSync(command, [versionFlag]).status === 0;
  if (isThere) return true;
  if (process.env['CI'] === 'true') throw new Error(`${command} is missing: on CI these tests must run`);
  process.stderr.write(`${command} is missing: the tests that need it are skipped\n`);
  return false;
}
