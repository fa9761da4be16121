import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The folder in which install-clients.ts installs third-party clients and test runners. Kept between runs. Each checkout
 * has its own, because it links its package. Outside node_modules, because Jest finds no tests there.
 */
export const CLIENTS = join(
  tmpdir(),
  `hooks-test-clients-${createHash('sha256').update(ROOT).digest('hex').slice(0, 8)}/`,
);

/** Written when all packages are installed. */
export function installedMark(): string {
  return join(CLIENTS, 'installed.json');
}

export const HAS_CLIENTS = existsSync(installedMark());
