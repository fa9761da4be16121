import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEachFile } from './clean-ups.ts';

const folders: string[] = [];
// When the file ends, not the test: in concurrent tests Vitest cannot tell which test has ended.
afterEachFile(async () => {
  const all = folders.splice(0);
  await Promise.all(all.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

/** Creates a folder with these files, by their paths in it. It is removed when the test file ends. */
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
