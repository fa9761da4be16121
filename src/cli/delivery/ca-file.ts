import type { GlobalOptions } from '../command.ts';
import type { Io } from '../io.ts';

/**
 * The file of the issuers that the config trusts (`delivery.ca`), for a command that asks a URL of its own. No config is
 * read for a URL without TLS.
 */
export async function configuredCaFile(
  url: string,
  options: GlobalOptions,
  io: Io,
): Promise<string | undefined> {
  if (!/^\s*https:/i.test(url)) return undefined;
  const { commandSettings } = await import('./settings.ts');
  const settings = await commandSettings(options, io);
  return settings.defaultSource === undefined ? undefined : settings.caFile(settings.defaultSource);
}
