import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Where install-clients.ts installs the client libraries and test runners of others. Kept between runs, a folder for each checkout, since each links its
 * own package; Jest finds no test below a node_modules.
 */
export const CLIENTS = join(
  tmpdir(),
  `hooks-test-clients-${createHash('sha256').update(ROOT).digest('hex').slice(0, 8)}/`,
);

/** Written when all of them are there. */
export function installedMark(): string {
  return join(CLIENTS, 'installed.json');
}

export const HAS_CLIENTS = existsSync(installedMark());
