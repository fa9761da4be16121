import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where install-clients.ts installs the client libraries and test runners of others. Kept between runs; Jest finds no test below a node_modules. */
export const CLIENTS = join(tmpdir(), 'hooks-test-clients/');

/** Written when all of them are there. */
export function installedMark(): string {
  return join(CLIENTS, 'installed.json');
}

export const HAS_CLIENTS = existsSync(installedMark());
