import { spawnSync } from 'node:child_process';

/**
 * Whether a program of somebody else, by which a test checks us, is there. Where it is missing the test is skipped, and
 * says so; on CI it must be there.
 */
export function hasTool(command: string, versionFlag: string): boolean {
  const isThere = spawnSync(command, [versionFlag]).status === 0;
  if (isThere) return true;
  if (process.env['CI'] === 'true') throw new Error(`${command} is missing: on CI these tests must run`);
  process.stderr.write(`${command} is missing: the tests that need it are skipped\n`);
  return false;
}
