import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

/** Not when the test ends: those of one file may run side by side, where Vitest cannot tell whose end it is. */
const folders: string[] = [];
/** Ms. For a hundred of them on a busy disk. */
const REMOVED_WITHIN = 120_000;
afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
}, REMOVED_WITHIN);

/** A new folder with these files, by their paths in it. It is gone when the tests of the file have ended. */
export function temporaryFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hooks-test-')));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}
