import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { loadSettings, type Settings } from '../../src/config/settings.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A folder of its own with these files, below the system's temporary one. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hooks-config-')));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

interface Load {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: string | false;
  /** Below the folder. */
  readonly cwd?: string;
}

/** Settings of a new folder; its `user` is where the user's config would be. */
export async function settingsWith({ files = {}, env = {}, config, cwd = '' }: Load): Promise<Settings> {
  const folder = await folderWith(files);
  return loadSettings({
    flags: config === undefined ? {} : { config },
    env: { XDG_CONFIG_HOME: join(folder, 'user'), HOME: folder, ...env },
    cwd: join(folder, cwd),
  });
}

/** What a promise or a function fails with; a test fails when it does not. */
export async function failureOf(attempt: () => unknown): Promise<Error & { readonly hint?: string }> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected it to fail');
}
