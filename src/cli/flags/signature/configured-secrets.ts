import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';
import { DEFAULT_SCHEMES, findSchemes } from '../../../signature/schemes/find-schemes.ts';
import { schemeListText } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';

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

/**
 * The config's signature schemes, likewise; undefined when no destination names any. To verify, those of every destination: any may be
 * that of a request. Throws ConfigError where only a guess would be left.
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
