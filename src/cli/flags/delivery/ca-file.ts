import { resolve } from 'node:path';
import type { ConnectionOptions } from '../../../engine/options.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';

/** Whether a URL needs issuers: without TLS their file is not read. */
export function hasTls(url: string): boolean {
  return /^\s*https:/i.test(url);
}

/** The file of the issuers that `--ca` names, from the current folder. Throws ConfigError for a file that cannot be used. */
export async function namedCaFile(
  { ca }: { readonly ca?: string },
  { cwd, signal }: Pick<Io, 'cwd' | 'signal'>,
): Promise<string | undefined> {
  if (ca === undefined) return undefined;
  const file = resolve(cwd, ca);
  // Read here, where its flag is known: later errors name the setting.
  await (await import('../../../app/probe-webhook.ts')).loadCaFile(file, '--ca', signal);
  return file;
}

/** How to reach a URL that is an argument: as its flags say, else as the config does. No config is read for a URL without TLS. */
export async function connectionTo(
  url: string,
  options: GlobalOptions & { readonly ca?: string },
  io: Io,
): Promise<ConnectionOptions> {
  const caFile = await namedCaFile(options, io);
  if (caFile !== undefined) return { caFile };
  if (!hasTls(url)) return {};
  const { commandSettings } = await import('./settings.ts');
  const settings = await commandSettings(options, io);
  return settings.defaultSource === undefined ? {} : settings.connection(settings.defaultSource);
}
