import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';

/** What a command does with secrets: to sign needs one, to verify tries several. */
export type SecretUse = 'sign' | 'verify';

/**
 * The config's secrets, each once; none is an empty list. First those of the default destination: they are all that signing
 * needs. To verify, those of every destination: any may match. To sign without a default destination, the one that all
 * share. Throws ConfigError where only a guess would be left.
 */
export function configuredSecrets(settings: Settings, use: SecretUse): readonly string[] {
  const { defaultSource } = settings;
  const meant = defaultSource === undefined ? [] : settings.secrets(defaultSource);
  if (use === 'sign' && meant.length > 0) return meant;
  const lists = settings.allSecrets();
  if (use === 'sign' && new Set(lists.map(([first]) => first)).size > 1) throw differentSecrets(settings);
  return [...new Set([...meant, ...lists.flat()])];
}

function differentSecrets({ sourceNames, files }: Settings): ConfigError {
  const holders = sourceNames.length > 1 ? 'sources' : 'destinations';
  return new ConfigError(`The ${holders} have different secrets (from ${files.join(', ')})`, {
    key: 'sharedSecret',
    hint: 'give the one that signs: --secret, --secret-file FILE or HOOKS_SECRET',
  });
}
