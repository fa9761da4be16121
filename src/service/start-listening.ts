import { isIP, type AddressInfo, type Server } from 'node:net';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { ListenAddress, ServiceLimits } from './options.ts';

/** The problem of an empty host, such as `--host "$HOST"` with an unset variable. Node would bind every interface. */
const NO_HOST = {
  key: 'host',
  why: 'expected an address, got an empty text',
  hint: 'name one: 127.0.0.1 for this machine only, 0.0.0.0 for all its interfaces',
} as const;

export interface WantedAddress extends ListenAddress {
  /** The command-line flag of the port, for hints. @default '--port' */
  readonly portFlag?: string | undefined;
}

/**
 * Starts listening and returns the host for URLs on this machine, and the port. Throws ConfigError, with a hint, if the
 * server cannot listen on the address.
 */
export async function startListening(
  server: Server,
  { host, port, portFlag = '--port' }: WantedAddress,
): Promise<ListenAddress> {
  const failure = host === '' ? undefined : await failureToListen(server, { host, port });
  if (host === '' || failure !== undefined) {
    const { key, why, hint } = failure === undefined ? NO_HOST : listenProblem(failure, portFlag);
    const sentence = `Cannot listen on ${printable(host)} port ${port}: ${printable(why)}`;
    throw new ConfigError(sentence, { key, hint, cause: failure });
  }
  // The address is a string only for pipes, and null only for closed servers.
  const address = server.address() as AddressInfo;
  return { host: reachableHost(host), port: address.port };
}

function failureToListen(
  server: Server,
  { host, port }: ListenAddress,
): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => {
      server.off('error', resolve);
      resolve(undefined);
    });
  });
}

function listenProblem({ code, message }: NodeJS.ErrnoException, portFlag: string) {
  switch (code) {
    case 'EADDRINUSE':
      return {
        key: 'port',
        why: 'something else is listening there',
        hint: `choose another port, or ${portFlag} 0 for any free one`,
      } as const;
    case 'EACCES':
      return {
        key: 'port',
        why: 'this user may not use the port',
        hint: `choose a port from 1024 on, or ${portFlag} 0 for any free one`,
      } as const;
    default:
      return {
        key: 'host',
        why: message,
        hint: 'give a name or address of this machine: 127.0.0.1, ::1, or 0.0.0.0 for all of them',
      } as const;
  }
}

/** The host for a URL of this machine. A wildcard address is replaced by loopback, because it is only for binding. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** The options of a Node HTTP server that end connections of slow senders. */
export function slowSenderTimeouts({ headersMs, requestMs }: Pick<ServiceLimits, 'headersMs' | 'requestMs'>) {
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    // Node checks for slow senders at this interval; its default of 30 s would let them stay that much longer.
    connectionsCheckingInterval: Math.min(headersMs, requestMs, 1_000),
  };
}
