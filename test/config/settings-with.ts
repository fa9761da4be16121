import { join } from 'node:path';
import { loadSettings, type Settings } from '../../src/config/settings.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Load {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: string | false;
  /** Path below the folder. */
  readonly cwd?: string;
}

/** Loads the settings of a new folder. Its subfolder `user` is the user's config folder. */
export async function settingsWith({ files = {}, env = {}, config, cwd = '' }: Load): Promise<Settings> {
  const folder = temporaryFolder(files);
  return loadSettings({
    flags: config === undefined ? {} : { config },
    env: { XDG_CONFIG_HOME: join(folder, 'user'), HOME: folder, ...env },
    cwd: join(folder, cwd),
  });
}

/** The error of a promise or a function. Fails the test if there is no error. */
export async function failureOf(attempt: () => unknown): Promise<Error & { readonly hint?: string }> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected it to fail');
}
