import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';
import { DEFAULT_SCHEMES, findSchemes } from '../../../signature/schemes/find-schemes.ts';
import { schemeListText } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';

/** The use that a command makes of secrets. Signing needs one; verifying tries several. */
export type SecretUse = 'sign' | 'verify';

/**
 * Returns the config's secrets without duplicates, possibly none. For signing: the secrets of the default source, else those
 * that all destinations share. For verifying: the secrets of every destination, because any can match. Throws ConfigError
 * for signing if there is no default and the destinations have different secrets.
 */
export function configuredSecrets(settings: Settings, use: SecretUse): readonly string[] {
  const { defaultSource } = settings;
  const meant = defaultSource === undefined ? [] : settings.secrets(defaultSource);
  if (use === 'sign' && meant.length > 0) return meant;
  const lists = settings.allSecrets();
  if (use === 'sign' && new Set(lists.map(([first]) => first)).size > 1) throw differentSecrets(settings);
  return [...new Set([...meant, ...lists.flat()])];
}

/**
 * Returns the config's signature schemes, undefined if no destination names any. For verifying: the schemes of every
 * destination, because a request can use any. Throws ConfigError for signing if there is no default and the destinations
 * have different schemes.
 */
export function configuredSchemes(
  settings: Settings,
  use: SecretUse,
): readonly SignatureScheme[] | undefined {
  const { defaultSource } = settings;
  const meant = defaultSource === undefined ? undefined : settings.schemes(defaultSource);
  if (use === 'sign' && meant !== undefined) return meant;
  const lists = settings.allSchemes();
  const names = new Set(lists.map((list) => list && schemeListText(list)));
  if (names.size <= 1) return lists[0];
  if (use === 'sign' && names.has(undefined)) return undefined;
  if (use === 'sign') throw differentSchemes(settings);
  const all = lists.flatMap((list) => list ?? DEFAULT_SCHEMES);
  const distinct = [...new Map(all.map((scheme) => [scheme.name, scheme])).values()];
  return findSchemes(distinct, { key: 'scheme', file: settings.files.join(', ') });
}

function differentSchemes({ files }: Settings): ConfigError {
  return new ConfigError(`The destinations have different signature schemes (from ${files.join(', ')})`, {
    key: 'scheme',
    hint: 'name those that sign: --scheme segment,standard-webhooks',
  });
}

function differentSecrets({ sourceNames, files }: Settings): ConfigError {
  const holders = sourceNames.length > 1 ? 'sources' : 'destinations';
  return new ConfigError(`The ${holders} have different secrets (from ${files.join(', ')})`, {
    key: 'sharedSecret',
    hint: 'give the one that signs: --secret, --secret-file FILE or HOOKS_SECRET',
  });
}
