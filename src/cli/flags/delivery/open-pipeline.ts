import type { ResolvedClientOptions } from '../../../client/options.ts';
import type { BatchRetry } from '../../../client/tracking-api-options.ts';
import type { Settings } from '../../../config/settings.ts';
import { systemClock } from '../../../clock.ts';
import type { ResponseCause } from '../../../diagnosis/explain.ts';
import { DELIVERY_DEFAULTS } from '../../../engine/options.ts';
import type { DurableQueue } from '../../../stores/opened-queue.ts';
import {
  createQueuePipeline,
  openDeliveryPipeline,
  type DeliveryParts,
  type TransportWrapper,
  type Pipeline,
} from '../../../app/pipeline/pipeline.ts';
import { createTrackingApiPipeline } from '../../../app/pipeline/tracking-api-pipeline.ts';
import { observedTransport, type ExchangeObserver } from '../../../app/observed-transport.ts';
import { readingTransport } from '../../../app/reading-transport.ts';
import { createRecordingTransport, type RecordedRequest } from '../../../app/recording-transport.ts';
import type { Io } from '../../io.ts';
import { flagError } from '../flag-values.ts';
import { destinationsOf, signingSecrets } from './where-to.ts';
import type { Loopback } from './loopback.ts';
import { Retries } from './retries.ts';
import { noteUndelivered, openQueueToWrite } from './queue-flags.ts';
import type { ToQueue, ToTrackingApi, ToWebhooks, WhereTo } from './where-to.ts';

export interface OpenPipeline {
  readonly pipeline: Pipeline;
  /** The receiver that --loopback started. Undefined without --loopback. */
  readonly loopback?: Loopback;
  /** Maximum number of attempts in flight to one destination. */
  readonly concurrency: number;
  /** Maximum number of messages in the pipeline; the next message can be rejected. */
  readonly maxQueued: number;
  /** Closes the pipeline and the --loopback receiver: after an interruption at once, else when all messages are settled. */
  readonly close: (how: { readonly interrupted: boolean }) => Promise<void>;
}

interface OpenOptions {
  readonly io: Io;
  readonly settings: Settings;
  readonly quiet: boolean;
  /** Receives the requests of a dry run, which are not sent. */
  readonly onRequest?: ((request: RecordedRequest) => void) | undefined;
  /** The queue for `--queue` if the command has already opened it. Closed with the pipeline. @default it is opened */
  readonly durable?: DurableQueue;
  readonly headersOfBody?: DeliveryParts['headersOfBody'];
  /** Called for each response, whatever its status. */
  readonly onResponse?: (() => void) | undefined;
  /**
   * Called with what the body of a response shows: a failure in spite of a 2xx, or the reason of a rejection. Makes the
   * pipeline read every body. @default bodies of 2xx are not read
   */
  readonly onCause?: ((cause: ResponseCause) => void) | undefined;
  /** Prints the headers of each request and of its response. */
  readonly showsHeaders?: boolean;
  /** Prints one line for all messages that fail in a round for the same reason. @default a line for each message */
  readonly gathersRetries?: boolean;
  /** Prints a line about a failed attempt or a retry. */
  readonly note: (line: string) => void;
}

/** Time that attempts in flight get to finish after an interruption. */
const GRACE_MS = 1_000;

/**
 * Messages in flight to the queue: enough that one commit carries several batches. With many more, messages would survive
 * until the next full garbage collection.
 */
const QUEUED_AT_ONCE = 128;

/** Opens the pipeline that `send`, `replay` and the syncs deliver through. Throws ConfigError for unusable settings. */
export async function openPipeline(to: WhereTo, options: OpenOptions): Promise<OpenPipeline> {
  const loopback = to.kind === 'loopback' ? await loopbackFor(to, options) : undefined;
  const target = loopback?.to ?? to;
  if (target.kind === 'loopback') throw new TypeError('A loopback was not started'); // loopbackFor starts it
  const retries = new Retries(options, { severalWebhooks: hasSeveralWebhooks(target) });
  const pipeline = await pipelineTo(target, options, retries).catch(async (error: unknown) => {
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
      retries.end();
      await loopback?.close();
    },
  };
}

async function pipelineTo(
  target: ToWebhooks | ToTrackingApi | ToQueue,
  options: OpenOptions,
  retries: Retries,
): Promise<Pipeline> {
  switch (target.kind) {
    case 'webhooks':
      return toWebhooks(target, options, { retries, observer: await printerFor(target, options) });
    case 'tracking-api':
      return toTrackingApi(target, options, { retries, observer: await printerFor(target, options) });
    case 'queue':
      return toQueue(target, options);
    default:
      return target satisfies never;
  }
}

/** Starts the receiver of --loopback. A dry run only needs a URL to show in the request. */
async function loopbackFor(
  to: WhereTo & { kind: 'loopback' },
  { onRequest }: OpenOptions,
): Promise<Loopback> {
  if (onRequest === undefined) return (await import('./loopback.ts')).startLoopback(to);
  const dry = to.deliverTo('http://127.0.0.1:8787/webhook');
  return { to: dry, judgementOf: () => undefined, close: () => Promise.resolve() };
}

/** Loads the code that prints headers only if they are shown. */
async function printerFor(
  target: ToWebhooks | ToTrackingApi,
  { showsHeaders = false, io, note }: OpenOptions,
): Promise<ExchangeObserver | undefined> {
  if (!showsHeaders) return undefined;
  const secrets = 'sources' in target ? signingSecrets(target) : [target.writeKey];
  return (await import('./exchange-printer.ts')).exchangePrinter({ note, errColor: io.errColor }, secrets);
}

function toWebhooks(to: ToWebhooks, options: OpenOptions, { retries, observer }: AttemptPrinters): Pipeline {
  const { source, sources } = to;
  return openDeliveryPipeline({
    source,
    sources,
    headersOfBody: options.headersOfBody,
    onEvent: (event) => {
      if (event.kind === 'attempt' && event.attempt.status !== undefined) options.onResponse?.();
      retries.see(event);
    },
    ...shared(options),
    wrapTransport: wrapperOf(observer, signingSecrets(to), options.onCause),
  });
}

interface AttemptPrinters {
  readonly retries: Retries;
  readonly observer: ExchangeObserver | undefined;
}

/** Returns the function that makes a transport print headers and read the bodies of 2xx responses, if the command needs it. */
function wrapperOf(
  observer: ExchangeObserver | undefined,
  secrets: readonly string[],
  onCause?: OpenOptions['onCause'],
): TransportWrapper {
  return (plain) => {
    const observed = observer === undefined ? plain : observedTransport(plain, observer);
    return onCause === undefined ? observed : readingTransport(observed, { secrets, onCause });
  };
}

function hasSeveralWebhooks(to: WhereTo): boolean {
  return to.kind === 'webhooks' && destinationsOf(to.sources).some(({ webhooks }) => webhooks.length > 1);
}

function toTrackingApi(
  to: ToTrackingApi,
  options: OpenOptions,
  { retries, observer }: AttemptPrinters,
): Pipeline {
  const { endpoint, writeKey, retryForMs, timeoutMs, concurrency, connection } = to;
  const api = {
    endpoint,
    writeKey,
    retryForMs,
    timeoutMs: timeoutMs ?? DELIVERY_DEFAULTS.timeoutMs,
    maxInFlight: concurrency,
    ...connection,
    onRetry: (retry: BatchRetry) => {
      if (retry.attempt.status !== undefined) options.onResponse?.();
      retries.batch(retry);
    },
    ...shared(options),
  };
  return createTrackingApiPipeline(api, wrapperOf(observer, []));
}

async function toQueue(to: ToQueue, options: OpenOptions): Promise<Pipeline> {
  const { settings, onRequest, durable, io, quiet } = options;
  if (onRequest !== undefined) {
    const hint = 'leave --queue out to see the request that would be sent';
    throw flagError('--queue', '`--queue` and a dry run cannot be given together', hint);
  }
  const { source, sources, store } = to;
  const opened = durable ?? (await openQueueToWrite(store === undefined ? {} : { store }, settings, { io }));
  if (!quiet) await noteUndelivered(opened, io);
  return createQueuePipeline({
    source,
    sources,
    durable: opened,
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

/** Returns the client's options, without warnings about lost messages: the command prints their outcomes itself. */
function clientOptions({ client }: Settings): ResolvedClientOptions {
  return { ...client, writeKey: undefined, warnOnLoss: false };
}

function concurrencyOf(to: ToWebhooks | ToTrackingApi | ToQueue): number {
  if (to.kind === 'queue') return QUEUED_AT_ONCE;
  if (to.kind === 'tracking-api') return to.concurrency ?? 1;
  return Math.max(1, ...destinationsOf(to.sources).map(({ delivery }) => delivery.concurrency));
}
