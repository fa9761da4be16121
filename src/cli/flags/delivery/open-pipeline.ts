import type { ResolvedClientOptions } from '../../../client/options.ts';
import type { Settings } from '../../../config/settings.ts';
import { systemClock } from '../../../clock.ts';
import type { ResponseCause } from '../../../diagnosis/explain.ts';
import { DELIVERY_DEFAULTS } from '../../../engine/options.ts';
import { ConfigError } from '../../../errors.ts';
import type { DurableQueue } from '../../../stores/opened-queue.ts';
import { createQueuePipeline, openDeliveryPipeline, type Pipeline } from '../../../app/pipeline/pipeline.ts';
import { createTrackingApiPipeline } from '../../../app/pipeline/tracking-api-pipeline.ts';
import { createReadingTransport } from '../../../app/reading-transport.ts';
import { createRecordingTransport, type RecordedRequest } from '../../../app/recording-transport.ts';
import type { Io } from '../../io.ts';
import type { Loopback } from './loopback.ts';
import { Retries } from './retries.ts';
import { openQueueToWrite } from './queue-flags.ts';
import type { ToQueue, ToTrackingApi, ToWebhooks, WhereTo } from './where-to.ts';

export interface OpenPipeline {
  readonly pipeline: Pipeline;
  /** The receiver of --loopback. */
  readonly loopback?: Loopback;
  /** At most this many attempts are in flight. */
  readonly concurrency: number;
  /** The pipeline holds at most this many messages; the next one may be rejected. */
  readonly maxQueued: number;
  /** Closes the pipeline and the receiver of --loopback: when everything is settled, or, interrupted, at once. */
  readonly close: (how: { readonly interrupted: boolean }) => Promise<void>;
}

export interface OpenOptions {
  readonly io: Io;
  readonly settings: Settings;
  readonly quiet: boolean;
  /** Takes the requests of a dry run instead of the network. */
  readonly onRequest?: ((request: RecordedRequest) => void) | undefined;
  /** The open queue for `--queue`, where the command has one; it is closed with the pipeline. @default it is opened */
  readonly durable?: DurableQueue;
  /** Called for each response, whatever its status. */
  readonly onResponse?: (() => void) | undefined;
  /** Called for a 2xx of a webhook whose body contradicts it; every body is read then. @default no body of a 2xx is read */
  readonly onContradiction?: ((cause: ResponseCause) => void) | undefined;
  /** Prints a line about an attempt that is repeated. */
  readonly note: (line: string) => void;
}

/** After Ctrl-C attempts in flight have this long to finish; then they are cut. */
const GRACE_MS = 1_000;

/**
 * Enough messages in flight that one commit carries several batches. With many more, each would grow old enough to stay in
 * memory until the next full collection.
 */
const QUEUED_AT_ONCE = 128;

/** Opens what `send` and `replay` deliver through. Throws ConfigError for a destination that cannot be reached this way. */
export async function openPipeline(to: WhereTo, options: OpenOptions): Promise<OpenPipeline> {
  const loopback = to.kind === 'loopback' ? await loopbackFor(to, options) : undefined;
  const target = loopback?.to ?? to;
  if (target.kind === 'loopback') throw new TypeError('A loopback was not started'); // loopbackFor starts it
  const pipeline = await pipelineTo(target, options).catch(async (error: unknown) => {
    await loopback?.close();
    throw error;
  });
  return {
    pipeline,
    concurrency: concurrencyOf(target),
    maxQueued: options.settings.client.maxQueued,
    ...(loopback !== undefined && { loopback }),
    close: async ({ interrupted }) => {
      await (interrupted ? pipeline.interrupt(GRACE_MS) : pipeline.close());
      await loopback?.close();
    },
  };
}

async function pipelineTo(
  target: ToWebhooks | ToTrackingApi | ToQueue,
  options: OpenOptions,
): Promise<Pipeline> {
  switch (target.kind) {
    case 'webhooks':
      return toWebhooks(target, options);
    case 'tracking-api':
      return toTrackingApi(target, options);
    case 'queue':
      return toQueue(target, options);
    default:
      return target satisfies never;
  }
}

/** Starts the receiver. A dry run needs none, only a URL to show in the request. */
async function loopbackFor(
  to: WhereTo & { kind: 'loopback' },
  { onRequest }: OpenOptions,
): Promise<Loopback> {
  if (onRequest === undefined) return (await import('./loopback.ts')).startLoopback(to);
  const dry = to.deliverTo('http://127.0.0.1:8787/webhook');
  return { to: dry, judgementOf: () => undefined, close: () => Promise.resolve() };
}

function toWebhooks({ source, sources }: ToWebhooks, options: OpenOptions): Pipeline {
  const retries = new Retries(options, { severalWebhooks: hasFallback(sources) });
  return openDeliveryPipeline({
    source,
    sources,
    onEvent: (event) => {
      if (event.kind === 'attempt' && event.attempt.status !== undefined) options.onResponse?.();
      retries.see(event);
    },
    ...shared(options),
    ...reading(sources, options),
  });
}

/** The transport that reads the body of a 2xx, for a command that looks at it. */
function reading(sources: ToWebhooks['sources'], { io, onContradiction, onRequest }: OpenOptions) {
  if (onContradiction === undefined || onRequest !== undefined) return {};
  return { transport: createReadingTransport({ sources, proxyEnv: io.env, onContradiction }) };
}

function toTrackingApi(to: ToTrackingApi, options: OpenOptions): Pipeline {
  const {
    endpoint,
    writeKey,
    retryForMs,
    timeoutMs = DELIVERY_DEFAULTS.timeoutMs,
    concurrency,
    connection,
  } = to;
  const retries = new Retries(options, { severalWebhooks: false });
  return createTrackingApiPipeline({
    endpoint,
    writeKey,
    retryForMs,
    timeoutMs,
    maxInFlight: concurrency,
    ...connection,
    onRetry: (retry) => {
      if (retry.attempt.status !== undefined) options.onResponse?.();
      retries.batch(retry);
    },
    ...shared(options),
  });
}

async function toQueue(to: ToQueue, { settings, onRequest, durable, io }: OpenOptions): Promise<Pipeline> {
  if (onRequest !== undefined) {
    throw new ConfigError('`--queue` and a dry run cannot be given together', {
      flag: '--queue',
      hint: 'leave --queue out to see the request that would be sent',
    });
  }
  const { source, sources, store } = to;
  return createQueuePipeline({
    source,
    sources,
    durable: durable ?? (await openQueueToWrite(store === undefined ? {} : { store }, settings, { io })),
    clock: systemClock,
    client: clientOptions(settings),
  });
}

function shared({ io, settings, onRequest }: OpenOptions) {
  return {
    client: clientOptions(settings),
    proxyEnv: io.env,
    ...(onRequest !== undefined && { transport: createRecordingTransport(onRequest) }),
  };
}

/** The client does not warn of lost messages: the command prints their outcomes itself. */
function clientOptions({ client }: Settings): ResolvedClientOptions {
  return { ...client, writeKey: undefined, warnOnLoss: false };
}

function hasFallback(sources: ToWebhooks['sources']): boolean {
  return destinationsOf(sources).some(({ webhooks }) => webhooks.length > 1);
}

function concurrencyOf(to: ToWebhooks | ToTrackingApi | ToQueue): number {
  if (to.kind === 'queue') return QUEUED_AT_ONCE;
  if (to.kind === 'tracking-api') return to.concurrency ?? 1;
  return Math.max(1, ...destinationsOf(to.sources).map(({ delivery }) => delivery.concurrency));
}

function destinationsOf(sources: ToWebhooks['sources']) {
  return Object.values(sources).flatMap(({ destinations }) => Object.values(destinations));
}
