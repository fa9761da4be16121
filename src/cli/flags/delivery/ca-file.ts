import { resolve } from 'node:path';
import type { ConnectionOptions } from '../../../engine/options.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';

/** Whether connections to a URL use TLS. Without TLS, the file of `--ca` is not read. */
export function hasTls(url: string): boolean {
  return /^\s*https:/i.test(url);
}

/**
 * Returns the absolute path of the certificate file that `--ca` names. Throws ConfigError for a file that cannot be used.
 */
export async function namedCaFile(
  { ca }: { readonly ca?: string },
  { cwd, signal }: Pick<Io, 'cwd' | 'signal'>,
): Promise<string | undefined> {
  if (ca === undefined) return undefined;
  const file = resolve(cwd, ca);
  // The file is read here already so that an error names `--ca`. An error of a later read would name the setting.
  await (await import('../../../app/probe-webhook.ts')).loadCaFile(file, '--ca', signal);
  return file;
}

/**
 * Returns the connection options for a URL argument: from `--ca`, else the config. Reads no config for a URL without TLS.
 */
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
