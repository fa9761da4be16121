import { createServer, type Server } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { Log } from './log.ts';
import type { ServiceLimits } from './options.ts';

export interface HttpServer {
  readonly url: string;
  /** Takes no more connections and closes idle ones; resolves when none is left. */
  close(): Promise<void>;
  /** Ends all connections, whatever is going on there. */
  cut(): void;
}

interface ServerOptions {
  readonly host?: string;
  readonly port?: number;
  readonly limits: ServiceLimits;
  readonly log: Log;
}

/** Throws ConfigError when it cannot listen there. */
export async function startServer(
  fetch: Parameters<typeof createAdaptorServer>[0]['fetch'],
  { host = '127.0.0.1', port = 0, limits, log }: ServerOptions,
): Promise<HttpServer> {
  const serverOptions = timeouts(limits);
  // It makes what createServer makes: a plain HTTP server.
  const server = createAdaptorServer({ fetch, createServer, serverOptions }) as Server;
  server.maxConnections = limits.connections;
  server.on('drop', () => log.warn('a connection too many was closed', { limit: limits.connections }));
  await listen(server, host, port);
  // Only a server on a pipe has a string, and only a closed one null.
  const address = server.address() as AddressInfo;
  return {
    url: `http://${reachable(host)}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
    cut: () => server.closeAllConnections(),
  };
}

function timeouts({ headersMs, requestMs }: ServiceLimits) {
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    // Node looks for slow senders only this often; its own 30 s would let them stay that much longer.
    connectionsCheckingInterval: Math.min(headersMs, requestMs, 1_000),
    // Longer than the minute for which load balancers keep theirs, so that they hardly ever meet one being closed.
    keepAliveTimeout: 65_000,
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explained(error, host, port));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

/** The wildcard addresses are for binding only; on this machine loopback reaches them. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIP(host) === 6 ? `[${host}]` : host;
}

const WHY_NOT: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EADDRINUSE: ['something else is listening there', 'choose another port, or --port 0 for any free one'],
  EACCES: ['this user may not', 'choose a port from 1024 on, or --port 0 for any free one'],
};

function explained(cause: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  const [why, hint] = WHY_NOT[cause.code ?? ''] ?? [
    printable(cause.message),
    'give a name or address of this machine: 127.0.0.1, ::1, or 0.0.0.0 for all of them',
  ];
  const key = cause.code === undefined || WHY_NOT[cause.code] === undefined ? 'host' : 'port';
  return new ConfigError(`Cannot listen on ${printable(host)} port ${port}: ${why}`, { key, hint, cause });
}
