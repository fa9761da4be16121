import type { Command } from 'commander';
import { ConfigError } from '../../../errors.ts';
import { readSecret, readSecretFile } from '../../../signature/secret.ts';
import type { GlobalOptions } from '../../command.ts';
import { given } from '../flag-values.ts';
import type { Io } from '../../io.ts';
import { readInputFile } from '../input-file.ts';
import { typedSecret } from '../prompt.ts';
import { isTyped, markStdin, type StdinIo } from '../../stdin.ts';
import type { SecretUse } from './configured-secrets.ts';

/** The value of --secret or --secret-file. */
export type SecretFlag = { readonly text: string } | { readonly file: string };

/**
 * The secrets of both flags in one list, in the order of the command line. Each flag that is given has this whole list as
 * its value. The first secret signs.
 */
export interface SecretFlags {
  readonly secret?: readonly SecretFlag[];
  readonly secretFile?: readonly SecretFlag[];
}

/** Help lines of --secret, by the use that the command makes of it. */
const DESCRIPTIONS: Readonly<Record<SecretUse, string>> = {
  sign: 'sign with this; repeat to rotate or for several schemes',
  verify: 'verify with this; repeat (default: HOOKS_SECRET, config)',
};

/** Adds --secret and --secret-file. `use` is for a command that reads its secrets with `commandSecrets`. */
export function addSecretFlags(command: Command, use?: SecretUse): Command {
  const all: SecretFlag[] = [];
  const collect = (flag: SecretFlag): readonly SecretFlag[] => {
    all.push(flag);
    return all;
  };
  return command
    .option(
      '--secret <secret>',
      use === undefined ? 'sign with this secret (repeat to rotate)' : DESCRIPTIONS[use],
      (text) => collect({ text }),
    )
    .option('--secret-file <file>', 'read the secret from a file, or from standard input (-)', (file) =>
      collect({ file: given(file) }),
    );
}

/** Returns `--secret-file` for each time that it reads standard input, so that a second reader can be rejected. */
export function secretStdinFlags({ secret, secretFile }: SecretFlags): string[] {
  return (secret ?? secretFile ?? []).flatMap((flag) =>
    'file' in flag && flag.file === '-' ? ['--secret-file'] : [],
  );
}

type SecretContext = StdinIo & Pick<Io, 'cwd'>;

/**
 * Reads the secrets in the given order; undefined if no flag gives one. Throws SignatureError, ConfigError or InputError.
 */
export async function readSecretFlags(
  { secret, secretFile }: SecretFlags,
  io: SecretContext,
): Promise<readonly string[] | undefined> {
  const flags = secret ?? secretFile;
  if (flags === undefined) return undefined;
  const secrets: string[] = [];
  for (const flag of flags) {
    secrets.push('text' in flag ? readSecret(flag.text, '--secret') : await secretOfFile(flag.file, io));
  }
  return secrets;
}

/**
 * Returns the secrets of a command that signs or verifies, possibly none: from its flags, else HOOKS_SECRET, else the
 * config. The config is read only if no secret is given.
 */
export async function commandSecrets(
  flags: SecretFlags & GlobalOptions,
  use: SecretUse,
  io: Io,
): Promise<readonly string[]> {
  const fromFlags = await readSecretFlags(flags, io);
  if (fromFlags !== undefined) return fromFlags;
  const { HOOKS_SECRET: fromEnvironment } = io.env;
  if (fromEnvironment !== undefined) return [readSecret(fromEnvironment, 'HOOKS_SECRET')];
  const { commandSettings } = await import('../delivery/settings.ts');
  const { configuredSecrets } = await import('./configured-secrets.ts');
  return configuredSecrets(await commandSettings(flags, io), use);
}

/** Returns the secrets of a command that needs at least one. Throws ConfigError if there is none. */
export async function requiredSecrets(
  flags: SecretFlags & GlobalOptions,
  use: SecretUse,
  io: Io,
): Promise<readonly [string, ...string[]]> {
  const [first, ...others] = await commandSecrets(flags, use, io);
  if (first !== undefined) return [first, ...others];
  throw new ConfigError('There is no secret', {
    key: 'sharedSecret',
    hint: 'give --secret, --secret-file FILE or HOOKS_SECRET, or set `sharedSecret` in the config (with `sources`: in a destination)',
  });
}

async function secretOfFile(file: string, io: SecretContext): Promise<string> {
  if (file === '-' && isTyped(io) && io.stderrIsTty) {
    markStdin(io, '--secret-file', true);
    return readSecret(await typedSecret(io), '--secret-file -');
  }
  return readSecretFile(await readInputFile(file, SECRET_FILE, io), `--secret-file ${file}`);
}

const SECRET_FILE = {
  flag: '--secret-file',
  what: 'the secret ',
  // Ten times the size of a TLS private key, so a larger file is not a secret.
  limitBytes: 64 * 1024,
  hint: 'name a file that you may read, or - for standard input',
  sizeHint: 'name a file that contains only the secret',
};
