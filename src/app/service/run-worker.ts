import type { EngineEvent } from '../../engine/engine-event.ts';
import { startMetricsServer } from '../../service/http-server.ts';
import type { ListenAddress } from '../../service/options.ts';
import type { DurableQueue } from '../../stores/opened-queue.ts';
import { logWebhookWarnings, openWatchedEngine, type WatchedEngineOptions } from './watched-engine.ts';

export interface RunWorkerOptions extends Omit<WatchedEngineOptions, 'deliver'> {
  readonly open: DurableQueue;
  /** The address of `/metrics`. @default no metrics */
  readonly metricsAt?: ListenAddress | undefined;
  readonly onEvent: (event: EngineEvent) => void;
}

/**
 * Delivers from a queue. `close` finishes the attempts in flight and leaves other deliveries in the queue. Throws
 * ConfigError.
 */
export async function runWorker(
  options: RunWorkerOptions,
): Promise<{ readonly metricsUrl: string | undefined; close(): Promise<void> }> {
  const { open, metricsAt } = options;
  const watched = await openWatchedEngine({ ...options, deliver: true, ingests: [] });
  const { engine, metrics, log } = watched;
  try {
    const server = await startMetricsServer({ metricsAt, metrics, log });
    log.info('delivering', { store: open.place, metrics: server?.url });
    await logWebhookWarnings({ ...options, deliver: true }, log);
    engine.start();
    const close = async (): Promise<void> => {
      log.info('stopping: attempts in flight are finished');
      await watched.close();
      server?.cut();
      await server?.close();
      log.info('stopped');
    };
    return { metricsUrl: server?.url, close };
  } catch (error) {
    await watched.close();
    throw error;
  }
}
