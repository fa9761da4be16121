import { execFileSync } from 'node:child_process';

/** Builds once per run, so that the tests of the built program never run a stale one. */
export function setup(): void {
  if (process.env['HOOKS_TEST_SKIP_BUILD']) return;
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  // Skips the build in the set-up of the next project of this run.
  process.env['HOOKS_TEST_SKIP_BUILD'] = '1';
}
