import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';

/** What a command does with secrets: one that signs needs one, one that verifies goes through several. */
export type SecretUse = 'sign' | 'verify';

/**
 * The config's secrets, each once; none is an empty list. First those of the destination that is meant when none is named:
 * they are all that is needed to sign. To verify, those of every destination: any may match. To sign where none is
 * meant, the one that all share. Throws ConfigError where only a guess would be left.
 */
export function configuredSecrets(settings: Settings, use: SecretUse): readonly string[] {
  const { defaultSource } = settings;
  const meant = defaultSource === undefined ? [] : settings.secrets(defaultSource);
  if (use === 'sign' && meant.length > 0) return meant;
  const lists = settings.allSecrets();
  if (use === 'sign' && new Set(lists.map(([first]) => first)).size > 1) throw different(settings);
  return [...new Set([...meant, ...lists.flat()])];
}

function different({ sourceNames, files }: Settings): ConfigError {
  const who = sourceNames.length > 1 ? 'sources' : 'destinations';
  return new ConfigError(`The ${who} have different secrets (from ${files.join(', ')})`, {
    key: 'sharedSecret',
    hint: 'say which one signs: give --secret, --secret-file FILE or HOOKS_SECRET',
  });
}
