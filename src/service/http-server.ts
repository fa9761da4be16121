import { createServer, type Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { createMetricsApp } from './app.ts';
import type { ServiceLog } from './log.ts';
import { SERVICE_LIMITS, type ServiceLimits, type ServiceOptions } from './options.ts';
import { slowSenderTimeouts, startListening, type WantedAddress } from './start-listening.ts';

/**
 * Starts a separate server for `/metrics`. Undefined without an address. Close it last, so that metrics stay available while
 * the last requests are stored.
 */
export async function startMetricsServer(
  options: Pick<ServiceOptions, 'metricsAt' | 'metrics' | 'log' | 'limits'>,
): Promise<HttpServer | undefined> {
  const { metricsAt, log } = options;
  if (metricsAt === undefined) return undefined;
  const limits = { ...SERVICE_LIMITS, ...options.limits };
  return startServer(createMetricsApp(options).fetch, {
    ...metricsAt,
    portFlag: '--metrics-port',
    limits,
    log,
  });
}

export interface HttpServer {
  readonly url: string;
  /** Accepts no more connections and closes idle ones. Resolves when all connections are closed. */
  close(): Promise<void>;
  /** Ends all connections, including those with requests in flight. */
  cut(): void;
}

interface ServerOptions extends WantedAddress {
  readonly limits: ServiceLimits;
  readonly log: ServiceLog;
}

/** Starts an HTTP server whose responses `fetch` makes. Throws ConfigError if it cannot listen on the address. */
export async function startServer(
  fetch: Parameters<typeof createAdaptorServer>[0]['fetch'],
  { limits, log, ...wanted }: ServerOptions,
): Promise<HttpServer> {
  // Longer than the 60 s of load balancers, so that they rarely use a connection that is being closed.
  const serverOptions = { ...slowSenderTimeouts(limits), keepAliveTimeout: 65_000 };
  // createAdaptorServer returns the result of createServer: a plain HTTP server.
  const server = createAdaptorServer({ fetch, createServer, serverOptions }) as Server;
  server.maxConnections = limits.connections;
  server.on('drop', () =>
    log.warn('connection limit reached, connection closed', { limit: limits.connections }),
  );
  const address = await startListening(server, wanted);
  return {
    url: `http://${address.host}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
    cut: () => server.closeAllConnections(),
  };
}
