import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, installedMark, ROOT } from './clients.ts';

/** Minutes of a slow registry. */
const INSTALL_MS = 300_000;

/**
 * Installs the clients once for a run of the system tests, unless they are there in these versions. Where there is no registry the tests that need them
 * are skipped, and say so; on CI they must run.
 */
export function setup(): void {
  const wanted = readFileSync(new URL('package.json', import.meta.url), 'utf8');
  const mark = installedMark();
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  rmSync(CLIENTS, { recursive: true, force: true });
  mkdirSync(CLIENTS, { recursive: true });
  writeFileSync(join(CLIENTS, 'package.json'), wanted);
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--loglevel=error',
  ];
  try {
    execFileSync('npm', args, { cwd: CLIENTS, timeout: INSTALL_MS, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    process.stderr.write('the client libraries cannot be installed: the tests that need them are skipped\n');
    return;
  }
  symlinkSync(ROOT, join(CLIENTS, 'node_modules/hooks-cli'));
  writeFileSync(mark, wanted);
}
