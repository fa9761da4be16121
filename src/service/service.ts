import { sleep } from '../clock.ts';
import { WeightedSemaphore } from '../weighted-semaphore.ts';
import { createApp } from './app.ts';
import { descriptorProbe } from './file-descriptors.ts';
import { startMetricsServer, startServer } from './http-server.ts';
import { Ingest } from './ingest/ingest.ts';
import { LineLimit } from './line-limit.ts';
import { SERVICE_LIMITS, type ServiceOptions } from './options.ts';
import { WriteKeys } from './request/authentication.ts';
import type { HandlerContext } from './request/read-request.ts';
import type { RejectionGroup } from './request/respond.ts';

/** A running tracking API. */
export interface Service {
  /** The URL for SDKs, such as `http://127.0.0.1:8788`. */
  readonly url: string;
  /** The URL of the separate server for `/metrics`. Undefined if there is none. */
  readonly metricsUrl: string | undefined;
  /**
   * Stops accepting requests and responds to requests that are being stored. Resolves when every socket is closed. After the
   * grace time it cuts the requests that are still arriving; none of them was acknowledged, so their senders retry.
   */
  close(): Promise<void>;
}

/** Interval between checks for a shortage of file descriptors. */
const WATCH_MS = 1_000;

/**
 * Starts the tracking API. Throws ConfigError if it cannot listen on the address, no source has a write key or two sources
 * share one.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const limits = { ...SERVICE_LIMITS, ...options.limits };
  const { clock, log } = options;
  const rejectionLimit = new LineLimit<RejectionGroup>({
    clock,
    onMore: (group, more) => log.info('more calls were rejected', { ...group, more }),
  });
  const handlers: HandlerContext = {
    ...options,
    rejectionLimit,
    keys: new WriteKeys(options.sources),
    ingest: new Ingest(options),
  };
  const stopping = new AbortController();
  const hasDescriptors = descriptorProbe(options);
  const app = createApp(handlers, {
    ...options,
    bytesInFlight: new WeightedSemaphore(limits.bytesInFlight),
    hasDescriptors,
    rejectionLimit,
    retryAfterSeconds: limits.retryAfterSeconds,
    stopping: stopping.signal,
    servesMetrics: options.metricsAt === undefined,
  });
  const server = await startServer(app.fetch, { ...options, limits });
  const metricsServer = await startMetricsServer(options).catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  const watch = setInterval(() => void hasDescriptors(), WATCH_MS).unref();
  // Only for the log of -v, because the command prints the addresses.
  log.debug('listening', { url: server.url, metrics: metricsServer?.url });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopping.abort();
    clearInterval(watch);
    log.info('stopping: no more requests are accepted');
    const over = new AbortController();
    const ended = server.close().finally(() => over.abort());
    await sleep(clock, limits.graceMs, over.signal);
    server.cut();
    await ended;
    rejectionLimit.close();
    metricsServer?.cut();
    await metricsServer?.close();
  };
  return { url: server.url, metricsUrl: metricsServer?.url, close: () => (closed ??= close()) };
}
