import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, installedMark, ROOT } from './clients.ts';

/** Timeout for a slow registry. */
const INSTALL_MS = 300_000;

/**
 * Installs the clients for a run of the system tests, unless these versions are installed. Without a registry, the tests
 * that need clients are skipped with a note. On CI this throws.
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
