import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { sleep } from '../clock.ts';
import { WeightedSemaphore } from '../weighted-semaphore.ts';
import { createApp, createMetricsApp } from './app.ts';
import { Ingest } from './ingest/ingest.ts';
import type { ServiceLog } from './log.ts';
import { SERVICE_LIMITS, type ServiceLimits, type ServiceOptions } from './options.ts';
import { WriteKeys } from './request/authentication.ts';
import type { HandlerContext } from './request/read-request.ts';
import { startListening } from './start-listening.ts';

/** The tracking API of this machine. */
export interface Service {
  /** Where SDKs are pointed to, such as `http://127.0.0.1:8788`. */
  readonly url: string;
  /** Where `/metrics` is, when it has a port of its own. */
  readonly metricsUrl: string | undefined;
  /**
   * Accepts no more requests and responds to those that are being stored; resolves when every socket is gone. A request
   * that is still being received after the grace time is cut off: it was not acknowledged.
   */
  close(): Promise<void>;
}

/** Throws ConfigError when it cannot listen there, or no source has a write key of its own. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const limits = { ...SERVICE_LIMITS, ...options.limits };
  const { clock, log, newId = randomUUID } = options;
  const handlers: HandlerContext = {
    ...options,
    newId,
    keys: new WriteKeys(options.sources),
    ingest: new Ingest(options),
  };
  const stopping = new AbortController();
  const app = createApp(handlers, {
    ...options,
    bytesInFlight: new WeightedSemaphore(limits.bytesInFlight),
    retryAfterSeconds: limits.retryAfterSeconds,
    stopping: stopping.signal,
    servesMetrics: options.metricsAt === undefined,
  });
  const server = await startServer(app.fetch, { ...options, limits });
  const metricsServer = await startMetrics(options, limits).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  log.info('listening', { url: server.url, metrics: metricsServer?.url });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopping.abort();
    log.info('stopping: no more requests are accepted');
    const over = new AbortController();
    const ended = server.close().finally(() => over.abort());
    await sleep(clock, limits.graceMs, over.signal);
    server.cut();
    await ended;
    metricsServer?.cut();
    await metricsServer?.close();
  };
  return { url: server.url, metricsUrl: metricsServer?.url, close: () => (closed ??= close()) };
}

/** The server of `/metrics` alone; it stays until the last request is stored, which is worth knowing. */
async function startMetrics(
  { metricsAt, metrics, log }: ServiceOptions,
  limits: ServiceLimits,
): Promise<HttpServer | undefined> {
  if (metricsAt === undefined) return undefined;
  return startServer(createMetricsApp({ metrics }).fetch, { ...metricsAt, limits, log });
}

interface HttpServer {
  readonly url: string;
  /** Takes no more connections and closes idle ones; resolves when none is left. */
  close(): Promise<void>;
  /** Ends all connections, requests in flight included. */
  cut(): void;
}

interface ServerOptions {
  readonly host?: string;
  readonly port?: number;
  readonly limits: ServiceLimits;
  readonly log: ServiceLog;
}

/** Throws ConfigError when it cannot listen there. */
async function startServer(
  fetch: Parameters<typeof createAdaptorServer>[0]['fetch'],
  { host = '127.0.0.1', port = 0, limits, log }: ServerOptions,
): Promise<HttpServer> {
  const serverOptions = timeouts(limits);
  // It makes what createServer makes: a plain HTTP server.
  const server = createAdaptorServer({ fetch, createServer, serverOptions }) as Server;
  server.maxConnections = limits.connections;
  server.on('drop', () =>
    log.warn('connection limit reached, connection closed', { limit: limits.connections }),
  );
  const address = await startListening(server, { host, port });
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
