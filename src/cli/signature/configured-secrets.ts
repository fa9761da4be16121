import type { Settings } from '../../config/settings.ts';
import { ConfigError } from '../../errors.ts';

/** What a command does with secrets: one that signs needs one, one that verifies goes through several. */
export type SecretUse = 'sign' | 'verify';

/**
 * The config's secrets, each once; none is an empty list. To verify, those of all destinations: any may match. To sign,
 * the one that they share, else the one of the destination that is meant when none is named. Throws ConfigError where
 * only a guess would be left.
 */
export function configuredSecrets(settings: Settings, use: SecretUse): readonly string[] {
  const lists = settings.allSecrets();
  const signing = new Set(lists.map(([first]) => first));
  if (signing.size > 0 && (use === 'verify' || signing.size === 1)) return [...new Set(lists.flat())];
  const { defaultSource } = settings;
  const meant = defaultSource === undefined ? [] : settings.secrets(defaultSource);
  if (meant.length === 0 && signing.size > 0) throw different(settings);
  return meant;
}

function different({ sourceNames, files }: Settings): ConfigError {
  const who = sourceNames.length > 1 ? 'sources' : 'destinations';
  return new ConfigError(`The ${who} have different secrets (from ${files.join(', ')})`, {
    key: 'sharedSecret',
    hint: 'say which one signs: give --secret, --secret-file FILE or HOOKS_SECRET',
  });
}
