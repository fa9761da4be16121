import type { Engine } from '../../engine/engine.ts';
import type { Sources } from '../../engine/options.ts';
import { NO_PROGRESS, type Delivery } from '../../queue/delivery.ts';
import type { IngestTarget, InvalidMessage } from '../../service/ingest/ingest-target.ts';
import type { ServiceLog } from '../../service/log.ts';
import type { ListenAddress, ServiceOptions } from '../../service/options.ts';
import { startService, type Service } from '../../service/service.ts';
import type { OpenQueue } from '../../stores/opened-queue.ts';
import type { ReadPlan, SourcePlans } from './source-plans.ts';
import {
  logWebhookWarnings,
  openWatchedEngine,
  type WatchedEngine,
  type WatchedEngineOptions,
} from './watched-engine.ts';

export interface RunServiceOptions
  extends
    WatchedEngineOptions,
    ListenAddress,
    Pick<ServiceOptions, 'metricsAt' | 'deletionReach' | 'limits'> {
  /** Reads the tracking plans of the sources. */
  readonly readPlan: ReadPlan;
}

/** A running service that checks messages with the tracking plans of its sources. */
export interface PlannedService extends Service {
  /** Loads the plans again. Undefined if no source has a plan. */
  readonly reloadPlans: (() => Promise<void>) | undefined;
}

/**
 * Runs the service with its engine. `close` stops accepting requests, finishes the attempts in flight, keeps other
 * deliveries in the queue and releases everything. Throws ConfigError.
 */
export async function runService(options: RunServiceOptions): Promise<PlannedService> {
  const { sources, open, readPlan } = options;
  const plans = await loadPlans(sources, readPlan);
  const watched = await openWatchedEngine({ ...options, ingests: Object.keys(sources) });
  const { engine, deletions, log, metrics } = watched;
  const guarded = plans?.guard({ log, metrics, clock: open.clock });
  try {
    const service = await startService({
      ...options,
      ...watched,
      planGuards: guarded?.guards,
      ingestTarget: ingestTargetOf(engine, open),
      deletions,
      seen: open.seen,
      checkStore: open.check,
    });
    logWarnings(options, log);
    logDeletionReach(options, log);
    await logWebhookWarnings(options, log);
    if (options.deliver) engine.start();
    const reloadPlans = plans && (() => plans.reload(log));
    const close = (): Promise<void> => closeAll(service, watched).finally(guarded?.close);
    return { ...service, reloadPlans, close };
  } catch (error) {
    await watched.close();
    throw error;
  }
}

/** Loads the code and the plans only if a source has a plan. */
async function loadPlans(sources: Sources, readPlan: ReadPlan): Promise<SourcePlans | undefined> {
  if (!Object.values(sources).some(({ plan }) => plan !== undefined)) return undefined;
  const { SourcePlans: Plans } = await import('./source-plans.ts');
  return Plans.load(sources, readPlan);
}

/** Warns about sources that no client can call and sources without enabled destinations. */
function logWarnings({ sources }: RunServiceOptions, log: ServiceLog): void {
  for (const [source, { writeKey, destinations }] of Object.entries(sources)) {
    if (writeKey === undefined) log.warn('a source has no write key, so no client can call it', { source });
    if (!Object.values(destinations).some(({ enabled }) => enabled)) {
      log.warn('a source has no enabled destination, so its messages are not delivered', { source });
    }
  }
}

/** Logs whether a write key may ask for deletion at every source or only its own. Logs nothing for a single source. */
function logDeletionReach({ sources, deletionReach = 'own' }: RunServiceOptions, log: ServiceLog): void {
  const count = Object.keys(sources).length;
  if (count < 2) return;
  if (deletionReach === 'all') {
    log.warn('any write key may ask for deletion at every source (--deletions all)', { sources: count });
  } else {
    log.info(
      'a write key may ask for deletion at its own source only; --deletions all lets it reach every source',
      { sources: count },
    );
  }
}

/**
 * Closes the service and stops the engine in parallel, because storing the last messages can take as long as the last
 * attempts.
 */
async function closeAll(service: Service, watched: WatchedEngine): Promise<void> {
  await Promise.all([service.close(), watched.engine.stop()]);
  await watched.close();
  watched.log.info('stopped');
}

function ingestTargetOf(engine: Engine, { queue, clock }: OpenQueue): IngestTarget {
  return {
    submit: engine.submit.bind(engine),
    keepInvalid: (source, letters) => {
      const now = Math.floor(clock.now());
      return queue.add(letters.map((letter) => deadLetter(source, letter, now)));
    },
  };
}

/** A dead letter without a destination, because an invalid message does not reliably name its destinations. */
function deadLetter(source: string, letter: InvalidMessage, now: number): Delivery {
  return {
    ...letter,
    source,
    destination: '',
    orderKeys: [],
    createdAt: now,
    dueAt: now,
    state: 'dead',
    progress: NO_PROGRESS,
    reason: 'invalid',
  };
}
