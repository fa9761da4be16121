import { loadSettings, type Settings } from '../../../config/settings.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';

type ConfigOptions = Pick<GlobalOptions, 'config' | 'verbose' | 'quiet'>;
type CommandSettingsContext = Pick<Io, 'env' | 'cwd' | 'note' | 'signal'>;

/** The settings that are already loaded, by the context of a command, because a command can ask for them several times. */
const known = new WeakMap<CommandSettingsContext, Promise<Settings>>();

/** Loads the settings of a command. With -v, also prints the config files in use. */
export function commandSettings(options: ConfigOptions, io: CommandSettingsContext): Promise<Settings> {
  const settings = known.get(io) ?? load(options, io);
  known.set(io, settings);
  return settings;
}

async function load(options: ConfigOptions, io: CommandSettingsContext): Promise<Settings> {
  const { config, verbose, quiet } = options;
  const settings = await loadSettings({
    flags: config === undefined ? {} : { config },
    env: io.env,
    cwd: io.cwd,
    signal: io.signal,
    ...(quiet !== true && { note: io.note }),
    ...(verbose && { onCode: io.note }),
  });
  if (verbose) io.note(`config: ${settings.files.length === 0 ? 'no file' : settings.files.join(', ')}`);
  return settings;
}
