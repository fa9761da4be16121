import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, installedMark } from './clients.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Minutes of a slow registry. */
const INSTALL_MS = 300_000;

/**
 * Installs the clients once for a run of the system tests, unless they are there in these versions. Where there is no registry the tests that need them
 * are skipped, and say so; on CI they must run.
 */
export function setup(): void {
  const wanted = readFileSync(new URL('package.json', import.meta.url), 'utf8');
  const mark = installedMark();
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return linkPackage();
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
  linkPackage();
  writeFileSync(mark, wanted);
}

/** Each clone tests its own package: the clients may have been installed by another. */
function linkPackage(): void {
  const link = join(CLIENTS, 'node_modules/hooks-cli');
  rmSync(link, { force: true });
  symlinkSync(ROOT, link);
}
