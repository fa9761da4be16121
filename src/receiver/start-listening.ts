import { isIP } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** Binds a server and says where it is reached. Throws ConfigError, with the way out, when the address cannot be had. */
export async function startListening(
  server: Server,
  host: string,
  port: number,
): Promise<{ readonly url: string; readonly port: number }> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explained(error, host, port));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve();
    });
  });
  // Only a server on a pipe has a string, and only a closed one null.
  const address = server.address() as AddressInfo;
  return { url: `http://${reachable(host)}:${address.port}`, port: address.port };
}

/** The wildcard addresses are for binding only; on this machine loopback reaches them. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIP(host) === 6 ? `[${host}]` : host;
}

function explained(error: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  const place = `${printable(host)} port ${port}`;
  const cause = error;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(`Cannot listen on ${place}: something else is listening there`, {
        key: 'port',
        cause,
        hint: 'choose another port, or --port 0 for any free one',
      });
    case 'EACCES':
      return new ConfigError(`Cannot listen on ${place}: this user may not`, {
        key: 'port',
        cause,
        hint: 'choose a port from 1024 on, or --port 0 for any free one',
      });
    default:
      return new ConfigError(`Cannot listen on ${place}: ${printable(error.message)}`, {
        key: 'host',
        cause,
        hint: 'give a name or address of this machine: 127.0.0.1, ::1, or 0.0.0.0 for all of them',
      });
  }
}
