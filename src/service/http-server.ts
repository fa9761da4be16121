import { createServer, type Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { createMetricsApp } from './app.ts';
import type { ServiceLog } from './log.ts';
import { SERVICE_LIMITS, type ServiceLimits, type ServiceOptions } from './options.ts';
import { startListening } from './start-listening.ts';

/** The server of `/metrics` alone; that of `serve` stays until the last request is stored, which is worth knowing. */
export async function startMetricsServer({
  metricsAt,
  metrics,
  log,
  limits,
}: Pick<ServiceOptions, 'metricsAt' | 'metrics' | 'log' | 'limits'>): Promise<HttpServer | undefined> {
  if (metricsAt === undefined) return undefined;
  const { fetch } = createMetricsApp({ metrics });
  return startServer(fetch, {
    ...metricsAt,
    portFlag: '--metrics-port',
    limits: { ...SERVICE_LIMITS, ...limits },
    log,
  });
}

export interface HttpServer {
  readonly url: string;
  /** Takes no more connections and closes idle ones; resolves when none is left. */
  close(): Promise<void>;
  /** Ends all connections, requests in flight included. */
  cut(): void;
}

interface ServerOptions {
  readonly host?: string;
  readonly port?: number;
  /** The flag of the port. */
  readonly portFlag?: string;
  readonly limits: ServiceLimits;
  readonly log: ServiceLog;
}

/** Throws ConfigError when it cannot listen there. */
export async function startServer(
  fetch: Parameters<typeof createAdaptorServer>[0]['fetch'],
  { host = '127.0.0.1', port = 0, portFlag, limits, log }: ServerOptions,
): Promise<HttpServer> {
  const serverOptions = timeouts(limits);
  // It makes what createServer makes: a plain HTTP server.
  const server = createAdaptorServer({ fetch, createServer, serverOptions }) as Server;
  server.maxConnections = limits.connections;
  server.on('drop', () =>
    log.warn('connection limit reached, connection closed', { limit: limits.connections }),
  );
  const address = await startListening(server, { host, port, portFlag });
  return {
    url: `http://${address.host}:${address.port}`,
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
