import { execFileSync } from 'node:child_process';

/** Builds once per run, so that the end-to-end tests never run a stale binary. */
export default function setup(): void {
  if (process.env['HOOKS_TEST_SKIP_BUILD']) return;
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
