import { sleep, type Clock } from '../../clock.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import type { Sources, WebhookOptions } from '../../engine/options.ts';
import { percentDecoded } from '../../engine/webhook.ts';
import type { LaneId } from '../../queue/queue.ts';
import { isSecretHeader, spellingsOf } from '../../redact.ts';
import { createServiceLog, type LogLevel, type ServiceLog } from '../../service/log.ts';
import { createMetrics, type Metrics, type WebhookLabels } from '../../service/metrics.ts';
import type { OpenQueue } from '../../stores/opened-queue.ts';
import { openEngine, uncheckedProxy, type EngineParts, type OpenEngine, type Reach } from '../open-engine.ts';
import { privateWebhookWarnings } from '../private-webhooks.ts';
import { PACKAGE_VERSION, USER_AGENT } from '../version.ts';
import { Watch } from './watch.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';

export interface WatchedEngineOptions extends Reach, Pick<EngineParts, 'sources' | 'open' | 'transport'> {
  /** Whether to start the engine. If false, messages are only queued, and another process delivers them. */
  readonly deliver: boolean;
  readonly logLevel: LogLevel;
  /** Writes one line of the log. */
  readonly write: (line: string) => void;
  /** The clock of the log and of messages without a timestamp. */
  readonly clock: Clock;
}

/**
 * An engine with log and metrics. `close` also writes the summaries of dead letters that are delayed to the end of a minute.
 */
export interface WatchedEngine extends OpenEngine {
  readonly log: ServiceLog;
  readonly metrics: Metrics;
}

interface Watching {
  /** The sources that this process accepts messages for. */
  readonly ingests: readonly string[];
  readonly onEvent?: (event: EngineEvent) => void;
}

/** Creates the engine of `serve` and `worker` with log and metrics, without starting it. Throws ConfigError. */
export async function openWatchedEngine(options: WatchedEngineOptions & Watching): Promise<WatchedEngine> {
  const { sources, open, clock, logLevel: level, write, onEvent } = options;
  const log = createServiceLog({ level, secrets: secretsOf(sources), clock, write });
  const metrics = createMetrics({
    lanes: open.lanes,
    oldestAt: open.oldestAt,
    sources: options.ingests,
    webhooks: options.deliver ? webhooksOf(sources) : [],
    version: PACKAGE_VERSION,
    now: () => open.clock.now(),
  });
  const watch = new Watch({ log, metrics, clock: open.clock, waiting: (lane) => waitingFor(open, lane) });
  const opened = await openEngine({
    ...options,
    onEvent: (event) => {
      watch.see(event);
      onEvent?.(event);
    },
    onUnrecorded: (delivery, error) => watch.unrecorded(delivery, error),
  });
  const closing = new AbortController();
  if (options.deliver) void sweepHourly(open, log, closing.signal);
  const close = (): Promise<void> => {
    closing.abort();
    return opened.close().finally(() => watch.close());
  };
  return { ...opened, log, metrics, close };
}

const SWEEP_MS = 3_600_000;

/** Sweeps every hour. Ignores a failing store, because the next claim reports it. */
async function sweepHourly({ sweep, clock }: OpenQueue, log: ServiceLog, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const deliveries = (await sweep?.().catch(() => 0)) ?? 0;
    if (deliveries > 0) log.warn('deliveries that no claim could find were put back', { deliveries });
    await sleep(clock, SWEEP_MS, signal);
  }
}

/** The enabled webhooks, which appear in the metrics before their first attempt. */
function webhooksOf(sources: Sources): readonly WebhookLabels[] {
  return prepareDestinations(sources, USER_AGENT).flatMap(({ lane, destination }) =>
    destination.webhooks.map(({ shownUrl }) => ({ ...lane, url: shownUrl })),
  );
}

async function waitingFor({ lanes }: OpenQueue, { source, destination }: LaneId): Promise<number> {
  const stats = await lanes();
  const own = stats.find((lane) => lane.source === source && lane.destination === destination);
  return own === undefined ? 0 : own.pending + own.sending + own.retrying;
}

const UNSIGNED = 'a destination has no sharedSecret, so requests to it are unsigned';

/** Logs a new store, and warnings about the store and the webhooks. */
export async function logWebhookWarnings(options: WatchedEngineOptions, log: ServiceLog): Promise<void> {
  const proxy = uncheckedProxy(options);
  if (proxy !== undefined) {
    log.warn('webhooks are reached through a proxy, so their addresses are not checked', { proxy });
  }
  for (const [source, { destinations }] of Object.entries(options.sources)) {
    for (const [destination, { enabled, sharedSecrets }] of Object.entries(destinations)) {
      if (enabled && sharedSecrets.length === 0) log.warn(UNSIGNED, { source, destination });
    }
  }
  const { madeFile } = options.open;
  if (madeFile !== undefined) log.info('made a new queue', { file: madeFile });
  // An unreadable store causes no warning here, because its first use reports the error.
  for (const warning of await options.open.warnings().catch(() => [])) log.warn(warning);
  if (options.deliver) await logGoneDestinations(options, log);
  void logPrivateWebhooks(options, log);
}

const GONE =
  'the config has no such destination, or it is disabled: its waiting deliveries become dead letters';
const RETRY =
  'hooks queue retry --all --filter reason=cancelled --to NAME delivers them to another destination';

/** Logs a warning for each destination that has waiting deliveries and is not in the config, for example after a rename. */
async function logGoneDestinations({ sources, open }: WatchedEngineOptions, log: ServiceLog): Promise<void> {
  // An unreadable store causes no warning here, because its first use reports the error.
  for (const { source, destination, pending, sending, retrying } of await open.lanes().catch(() => [])) {
    const deliveries = pending + sending + retrying;
    if (deliveries === 0 || sources[source]?.destinations[destination]?.enabled) continue;
    log.warn(GONE, { source, destination, deliveries, hint: RETRY });
  }
}

/**
 * Logs a warning for each webhook whose name resolves only to private addresses, because it will get no messages. A warning,
 * not an error, because names can change. Callers do not await it, because name servers can be slow.
 */
async function logPrivateWebhooks(options: WatchedEngineOptions, log: ServiceLog): Promise<void> {
  for (const warning of await privateWebhookWarnings(options.sources, options)) log.warn(warning);
}

/** All secrets in the sources, in each encoding that can appear on the wire. */
function secretsOf(sources: Sources): readonly string[] {
  const secrets = Object.values(sources).flatMap(({ writeKey, destinations }) => [
    ...(writeKey === undefined ? [] : [writeKey, base64(`${writeKey}:`)]),
    ...Object.values(destinations).flatMap(({ sharedSecrets, webhooks }) => [
      ...sharedSecrets,
      ...webhooks.flatMap(webhookSecrets),
    ]),
  ]);
  return [...new Set(secrets.flatMap(spellingsOf))];
}

function webhookSecrets({ url, headers }: WebhookOptions): readonly string[] {
  const values = Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    // A receiver that repeats a header may omit its first word, such as `Bearer`, so the token alone is masked too.
    .flatMap(([, value]) => [value, value.replace(/^\w+ +/, '')]);
  return [...values, ...userinfoSecrets(url)];
}

function userinfoSecrets(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  if (username === '' && password === '') return [];
  const plain = [username, password].map((text) => percentDecoded(text).toString());
  return [`${username}:${password}`, password, ...plain.slice(1), base64(plain.join(':'))];
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
