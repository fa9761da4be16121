import type { Command } from 'commander';
import { HooksError } from '../../../errors.ts';
import type { ReceiverOptions } from '../../../receiver/options.ts';
import { BUILT_IN_SCHEMES } from '../../../signature/schemes/built-in.ts';
import { findSchemes } from '../../../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import type { SecretFlags } from './secret-flags.ts';

export interface SchemeFlags {
  /** Names with commas between. */
  readonly scheme?: string;
}

/** Adds --scheme. `text` says what the command does with the schemes. */
export function addSchemeFlag(command: Command, text: string): Command {
  return command.option('--scheme <names>', text);
}

/** The schemes that --scheme names; undefined without it. Reads a config for those of one's own only. Throws ConfigError. */
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

/** What a receiver of a tool accepts: the schemes that are named, else by the headers that came, with those of the config; not where signatures are required. */
export async function receiverSchemes(
  flags: SchemeFlags & SecretFlags & GlobalOptions & { readonly requireSignature?: true },
  io: Io,
): Promise<Pick<ReceiverOptions, 'scheme' | 'detectSchemes'>> {
  const scheme = await readSchemeFlag(flags, io);
  if (scheme !== undefined) return { scheme };
  return flags.requireSignature === true ? {} : { detectSchemes: await detectableSchemes(flags, io) };
}

/** The schemes of the config that are looked for beside those built in: none where the secret is given, since then no config is read. */
export async function detectableSchemes(
  flags: SecretFlags & GlobalOptions,
  io: Io,
): Promise<readonly SignatureScheme[]> {
  if ((flags.secret ?? flags.secretFile) !== undefined || io.env['HOOKS_SECRET']) return [];
  try {
    return await ownSchemes(flags, io);
  } catch (error) {
    if (error instanceof HooksError) return [];
    throw error;
  }
}

/** The schemes of one's own that the config has. */
async function ownSchemes(flags: GlobalOptions, io: Io): Promise<readonly SignatureScheme[]> {
  const { commandSettings } = await import('../delivery/settings.ts');
  const settings = await commandSettings(flags, io);
  return settings.ownSchemes;
}
