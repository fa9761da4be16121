import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { cutValues } from '../../../config/files/cut-values.ts';
import { HooksError } from '../../../errors.ts';
import type { OtherSecret } from '../../../signature/evidence.ts';
import { unexpandedName } from '../../../signature/secret.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { configuredSecrets } from './configured-secrets.ts';
import type { SecretFlags } from './secret-flags.ts';

/** Input of the explanation of a mismatch: the origin of the accepted secrets, and other secrets that may have signed. */
export interface KnownSecrets {
  /**
   * Origin of the accepted secrets, and of the secrets they hide: `HOOKS_SECRET, which hides sharedSecret of .hooksrc.yaml`.
   */
  readonly secretOrigin: string;
  readonly otherSecrets: readonly OtherSecret[];
}

/**
 * Finds the origin of a command's secrets, and the secrets that they hide: those of HOOKS_SECRET and of the config. Ignores
 * a config that cannot be read, because the command did not need it.
 */
export async function knownSecrets(
  flags: SecretFlags & GlobalOptions,
  io: Io,
  ours: readonly string[],
): Promise<KnownSecrets> {
  const { HOOKS_SECRET: fromEnvironment, ...env } = io.env;
  const { configured, cut } = await secretsOfConfig(flags, { ...io, env });
  const origins = flagOrigins(flags, io);
  const isFromConfig = origins.length === 0 && !fromEnvironment;
  const hidden = isFromConfig ? [] : [...configured];
  if (origins.length > 0 && fromEnvironment) {
    hidden.unshift({ secret: fromEnvironment, origin: 'HOOKS_SECRET' });
  }
  const [first = fromEnvironment ? 'HOOKS_SECRET' : (configured[0]?.origin ?? 'the config'), ...more] =
    origins;
  const others = hidden.filter(({ secret }) => !ours.includes(secret));
  const hides = [...new Set(others.map(({ origin }) => origin))].join(' and ');
  return {
    secretOrigin: `${[first, ...more].join(' and ')}${hides === '' ? '' : `, which hides ${hides}`}`,
    otherSecrets: [...others, ...cut, ...expanded(ours, io)],
  };
}

function flagOrigins({ secret, secretFile }: SecretFlags, { cwd }: Pick<Io, 'cwd'>): string[] {
  const names = (secret ?? secretFile ?? []).map((flag) => {
    if ('file' in flag) return `--secret-file ${flag.file}`;
    const isFile = existsSync(resolve(cwd, flag.text.replace(/^@/, '')));
    return isFile ? '--secret (it is the name of a file: --secret-file FILE reads it)' : '--secret';
  });
  return [...new Set(names)];
}

interface ConfiguredSecrets {
  readonly configured: readonly OtherSecret[];
  /** Secrets that YAML cut off at a `#`, in full. */
  readonly cut: readonly OtherSecret[];
}

async function secretsOfConfig(
  flags: GlobalOptions,
  io: Pick<Io, 'env' | 'cwd' | 'note' | 'signal'>,
): Promise<ConfiguredSecrets> {
  const { verbose: _verbose, ...options } = flags;
  try {
    const { commandSettings } = await import('../delivery/settings.ts');
    const settings = await commandSettings(options, io);
    const origin = `sharedSecret of ${settings.files.join(', ')}`;
    const cut = settings.files.flatMap((file) => cutValues(resolve(io.cwd, file)));
    return {
      configured: configuredSecrets(settings, 'verify').map((secret) => ({ secret, origin })),
      cut: cut.map(({ whole }) => ({
        secret: whole,
        origin: `${origin} with the rest of its line after #: quote it`,
      })),
    };
  } catch (error) {
    if (error instanceof HooksError) return { configured: [], cut: [] };
    throw error;
  }
}

/** Returns the values of variables whose names stand unexpanded in the accepted secrets. */
function expanded(ours: readonly string[], { env }: Pick<Io, 'env'>): OtherSecret[] {
  return ours.flatMap((secret) => {
    const name = unexpandedName(secret);
    const value = name === undefined ? undefined : env[name];
    return value
      ? [{ secret: value, origin: `${name}: the secret given is its name, which was not expanded` }]
      : [];
  });
}
