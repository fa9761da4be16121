import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary-folder.ts';

const BINARY = fileURLToPath(new URL('../../bin/hooks.js', import.meta.url));

/**
 * Creates a folder for the front of PATH: `hooks` is the built program, `npx` runs it too, and `curl` fails if a receiver
 * rejects its request. Call this before any command runs, because a process started meanwhile would hold the files open
 * for writing.
 */
export async function programsFolder(): Promise<string> {
  const programs = {
    hooks: `exec '${process.execPath}' '${BINARY}' "$@"`,
    npx: 'exec "$@"',
    curl: 'PATH=${PATH#*:} exec curl --fail "$@"',
  };
  const files = Object.entries(programs).map(([name, script]) => [name, `#!/bin/sh\n${script}\n`]);
  const folder = temporaryFolder(Object.fromEntries(files) as Record<string, string>);
  for (const name of Object.keys(programs)) await chmod(join(folder, name), 0o755);
  return folder;
}
