import type { Server } from 'node:net';
import { bind } from '../bind.ts';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** Binds a server and returns its URL. Throws ConfigError, with a hint, when it cannot listen on the address. */
export async function startListening(
  server: Server,
  { scheme, host, port }: { readonly scheme: 'http' | 'https'; readonly host: string; readonly port: number },
): Promise<{ readonly url: string; readonly port: number }> {
  const bound = await bind(server, host, port);
  if (bound.ok) return { url: `${scheme}://${bound.host}:${bound.port}`, port: bound.port };
  const { setting: key, why, hint, cause } = bound;
  throw new ConfigError(`Cannot listen on ${printable(host)} port ${port}: ${printable(why)}`, {
    key,
    hint,
    cause,
  });
}
