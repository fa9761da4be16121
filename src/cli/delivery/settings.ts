import { loadSettings, type Settings } from '../../config/settings.ts';
import type { GlobalOptions } from '../command.ts';
import type { Io } from '../io.ts';

/** The settings of a command. With -v the config files in use are named. */
export async function commandSettings(
  options: Pick<GlobalOptions, 'config' | 'verbose'>,
  io: Pick<Io, 'env' | 'cwd' | 'note'>,
): Promise<Settings> {
  const { config, verbose } = options;
  const settings = await loadSettings({
    flags: config === undefined ? {} : { config },
    env: io.env,
    cwd: io.cwd,
  });
  if (verbose) io.note(`config: ${settings.files.length === 0 ? 'no file' : settings.files.join(', ')}`);
  return settings;
}
