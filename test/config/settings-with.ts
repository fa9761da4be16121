import { join } from 'node:path';
import { loadSettings, type Settings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Load {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: string | false;
  /** Below the folder. */
  readonly cwd?: string;
}

/** Settings of a new folder; its `user` is where the user's config would be. */
export async function settingsWith({ files = {}, env = {}, config, cwd = '' }: Load): Promise<Settings> {
  const folder = temporaryFolder(files);
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
