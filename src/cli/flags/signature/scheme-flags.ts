import type { Command } from 'commander';
import { HooksError } from '../../../errors.ts';
import { BUILT_IN_SCHEMES } from '../../../signature/schemes/built-in.ts';
import { findSchemes } from '../../../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { joinNames } from '../flag-values.ts';
import type { SecretUse } from './configured-secrets.ts';
import type { SecretFlags } from './secret-flags.ts';

export interface SchemeFlags {
  /** Names of signature schemes, separated by commas (`--scheme`). */
  readonly scheme?: string;
}

/** Adds --scheme with the help line `text`. */
export function addSchemeFlag(command: Command, text: string): Command {
  return command.option('--scheme <names>', text, joinNames);
}

/**
 * Returns the schemes that --scheme names, undefined without the flag. Reads the config only for custom schemes. Throws
 * ConfigError.
 */
export async function readSchemeFlag(
  flags: SchemeFlags & GlobalOptions,
  io: Io,
): Promise<readonly SignatureScheme[] | undefined> {
  const { scheme } = flags;
  if (scheme === undefined) return undefined;
  const custom = scheme.split(',').every(isBuiltIn) ? [] : await ownSchemes(flags, io);
  return findSchemes(scheme, { key: '--scheme', custom });
}

function isBuiltIn(name: string): boolean {
  return BUILT_IN_SCHEMES.some((each) => each.name === name.trim());
}

export type SignatureFlags = SchemeFlags & SecretFlags & GlobalOptions;

/** Returns the schemes of --scheme, else those of the config; undefined if neither names any. */
export async function commandSchemes(
  flags: SignatureFlags,
  use: SecretUse,
  io: Io,
): Promise<readonly SignatureScheme[] | undefined> {
  const named = await readSchemeFlag(flags, io);
  if (named !== undefined) return named;
  const { commandSettings } = await import('../delivery/settings.ts');
  const { configuredSchemes } = await import('./configured-secrets.ts');
  return configuredSchemes(await commandSettings(flags, io), use);
}

/** Whether `sign` and `verify` read the config for schemes: yes, unless a secret is given without --config. */
export function readsConfig({ secret, secretFile, config }: SignatureFlags, { env }: Io): boolean {
  return typeof config === 'string' || ((secret ?? secretFile) === undefined && !env['HOOKS_SECRET']);
}

/** Returns the config's custom schemes to detect besides the built-in schemes. Ignores a config that cannot be read. */
export async function detectableSchemes(flags: SignatureFlags, io: Io): Promise<readonly SignatureScheme[]> {
  if (!readsConfig(flags, io)) return [];
  try {
    return await ownSchemes(flags, io);
  } catch (error) {
    if (error instanceof HooksError) return [];
    throw error;
  }
}

/** Returns the custom schemes of the config. */
async function ownSchemes(flags: GlobalOptions, io: Io): Promise<readonly SignatureScheme[]> {
  const { commandSettings } = await import('../delivery/settings.ts');
  const settings = await commandSettings(flags, io);
  return settings.ownSchemes;
}
