import type { Clock } from '../../clock.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Sources, WebhookOptions } from '../../engine/options.ts';
import { NO_PROGRESS, type Delivery } from '../../queue/delivery.ts';
import type { Lane } from '../../queue/queue.ts';
import { isSecretHeader, spellingsOf } from '../../redact.ts';
import type { IngestTarget, InvalidMessage } from '../../service/ingest/ingest-target.ts';
import { createServiceLog, type LogLevel, type ServiceLog } from '../../service/log.ts';
import { createMetrics, type WebhookLabels } from '../../service/metrics.ts';
import type { DeletionReach, ListenAddress, ServiceLimits } from '../../service/options.ts';
import { startService, type Service } from '../../service/service.ts';
import type { OpenQueue } from '../../stores/opened-queue.ts';
import type { Transport } from '../../transport/transport.ts';
import { openEngine, uncheckedProxy, type OpenEngine, type Reach } from '../open-engine.ts';
import { privateWebhookWarnings } from '../private-webhooks.ts';
import { packageVersion, userAgent } from '../version.ts';
import { Watch } from './watch.ts';

export interface RunServiceOptions extends Reach {
  readonly sources: Sources;
  /** Closed with the service, and when the service cannot start. */
  readonly open: OpenQueue;
  readonly host: string;
  readonly port: number;
  /** The port of `/metrics`. @default that of the service */
  readonly metricsAt?: ListenAddress | undefined;
  /** Whether to deliver too, or only to queue. */
  readonly deliver: boolean;
  /** The sources at which a write key may ask for deletion. @default 'own' */
  readonly deletionReach?: DeletionReach;
  readonly logLevel: LogLevel;
  /** Takes one line of the log. */
  readonly write: (line: string) => void;
  /** The clock of the log, and of a message that comes without a time. */
  readonly clock: Clock;
  readonly limits?: Partial<ServiceLimits>;
  /** @default undici */
  readonly transport?: Transport;
}

/**
 * The service with everything behind it. `close` takes no more calls, finishes the attempts in flight, keeps the rest
 * in the queue and releases all of it. Throws ConfigError.
 */
export async function runService(options: RunServiceOptions): Promise<Service> {
  const { sources, open, clock, logLevel: level, write } = options;
  const log = createServiceLog({ level, secrets: secretsOf(sources), clock, write });
  const metrics = createMetrics({
    lanes: open.lanes,
    oldestAt: open.oldestAt,
    webhooks: webhooksOf(sources),
    version: packageVersion(),
    now: () => open.clock.now(),
  });
  const watch = new Watch({ log, metrics, clock: open.clock, waiting: (lane) => waitingFor(open, lane) });
  const opened = await openEngine({
    ...options,
    onEvent: (event) => watch.see(event),
    onUnrecorded: (delivery, error) => watch.unrecorded(delivery, error),
  });
  const { engine, deletions } = opened;
  try {
    const service = await startService({
      ...options,
      ingestTarget: ingestTargetOf(engine, open),
      deletions,
      seen: open.seen,
      checkStore: open.check,
      metrics,
      log,
    });
    logWarnings(options, log);
    logDeletionReach(options, log);
    // A store that does not respond now reports that when it is used.
    for (const warning of await open.warnings().catch(() => [])) log.warn(warning);
    void logPrivateWebhooks(options, log);
    if (options.deliver) engine.start();
    return { ...service, close: () => closeAll(service, opened, log).finally(() => watch.close()) };
  } catch (error) {
    await opened.close();
    watch.close();
    throw error;
  }
}

/** The webhooks in use, as they are shown: each is known to the metrics before its first attempt. */
function webhooksOf(sources: Sources): readonly WebhookLabels[] {
  return prepareDestinations(sources, userAgent()).flatMap(({ lane, destination }) =>
    destination.webhooks.map(({ shownUrl }) => ({ ...lane, url: shownUrl })),
  );
}

async function waitingFor({ lanes }: OpenQueue, { source, destination }: Lane): Promise<number> {
  const stats = await lanes();
  const own = stats.find((lane) => lane.source === source && lane.destination === destination);
  return own === undefined ? 0 : own.pending + own.sending + own.retrying;
}

/** Logs webhooks that will get nothing. Not waited for: a name server may be slow, and a name may lead elsewhere later. */
async function logPrivateWebhooks(options: RunServiceOptions, log: ServiceLog): Promise<void> {
  for (const warning of await privateWebhookWarnings(options.sources, options)) log.warn(warning);
}

/** Logs what a person should know at the start. */
function logWarnings(options: RunServiceOptions, log: ServiceLog): void {
  const { sources } = options;
  const proxy = uncheckedProxy(options);
  if (proxy !== undefined) {
    log.warn('webhooks are reached through a proxy: the addresses they are at are not checked', { proxy });
  }
  for (const [source, { writeKey, destinations }] of Object.entries(sources)) {
    if (writeKey === undefined) log.warn('a source has no write key, so no client can call it', { source });
    if (!Object.values(destinations).some(({ enabled }) => enabled)) {
      log.warn('a source has no destination enabled, so what is sent to it goes nowhere', { source });
    }
  }
}

/** Logs which sources a write key reaches; with one source there is no difference. */
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

/** Finishes attempts in flight while the last messages are stored, which may take as long. */
async function closeAll(service: Service, opened: OpenEngine, log: ServiceLog): Promise<void> {
  await Promise.all([service.close(), opened.engine.stop()]);
  await opened.close();
  log.info('stopped');
}

function ingestTargetOf(engine: Engine, { queue, clock }: OpenQueue): IngestTarget {
  return {
    submit: (source, messages) => engine.submit(source, messages),
    keepInvalid: (source, letters) => {
      const now = Math.floor(clock.now());
      return queue.add(letters.map((letter) => deadLetter(source, letter, now)));
    },
  };
}

/** A dead letter without a destination: an invalid message does not reliably name its destinations. */
function deadLetter(source: string, letter: InvalidMessage, now: number): Delivery {
  const { id, messageId, type, body, detail } = letter;
  return {
    id,
    source,
    destination: '',
    messageId,
    type,
    body,
    orderKeys: [],
    createdAt: now,
    dueAt: now,
    state: 'dead',
    progress: NO_PROGRESS,
    reason: 'invalid',
    detail,
  };
}

/** Everything in the sources that must never be shown, in each of the forms in which it goes over the wire. */
function secretsOf(sources: Sources): readonly string[] {
  const secrets = Object.values(sources).flatMap(({ writeKey, destinations }) => [
    ...(writeKey === undefined ? [] : [writeKey, base64(`${writeKey}:`)]),
    ...Object.values(destinations).flatMap(({ sharedSecrets, webhooks }) => [
      ...sharedSecrets,
      ...webhooks.flatMap(ofWebhook),
    ]),
  ]);
  return [...new Set(secrets.flatMap(spellingsOf))];
}

function ofWebhook({ url, headers }: WebhookOptions): readonly string[] {
  const values = Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    // `Bearer TOKEN`: a receiver may repeat the token alone.
    .flatMap(([, value]) => [value, value.replace(/^\w+ +/, '')]);
  return [...values, ...ofUserinfo(url)];
}

function ofUserinfo(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  if (username === '' && password === '') return [];
  const plain = [decoded(username), decoded(password)];
  return [`${username}:${password}`, password, ...plain.slice(1), base64(plain.join(':'))];
}

/** A stray % stands for itself. */
function decoded(text: string): string {
  return Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
