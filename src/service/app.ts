import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { sleep } from '../clock.ts';
import { QueueError } from '../errors.ts';
import type { WeightedSemaphore } from '../weighted-semaphore.ts';
import { findDeletion, handleDeletion } from './handle-deletion.ts';
import { handleMessages } from './handle-messages.ts';
import { errorFields } from './log.ts';
import type { ServiceOptions } from './options.ts';
import { ByteShare } from './request/byte-share.ts';
import { ANY_ORIGIN, preflightHeaders, SOURCE_CONFIG } from './request/cross-origin.ts';
import { MESSAGE_PATHS } from './request/message-paths.ts';
import type { HandlerContext, IngestRequest } from './request/read-request.ts';
import { INTERNAL_ERROR, STOPPING, type IngestRejection } from './request/rejection.ts';
import { rejectionResponse, respond, type Env, type ResponseContext } from './request/respond.ts';

interface AppParts extends ResponseContext, Pick<ServiceOptions, 'checkStore' | 'clock'> {
  readonly bytesInFlight: WeightedSemaphore;
  readonly hasDescriptors: () => Promise<boolean>;
  /** Whether the port for messages also serves `/metrics`. */
  readonly servesMetrics: boolean;
}

/** Creates the app with all routes of the service. */
export function createApp(handlers: HandlerContext, parts: AppParts): Hono<Env> {
  const app = new Hono<Env>();
  const guards = [rejectWhenStopping(parts), countBytesInFlight(parts)] as const;
  for (const [name, type] of Object.entries(MESSAGE_PATHS)) {
    const path = `/v1/${name}`;
    app.options(path, (context) => preflight(context));
    app.post(path, allowEveryOrigin, ...guards, async (context) =>
      respond(context, path, await handleMessages(ingestRequestOf(context), type, handlers), parts),
    );
    app.all(path, (context) => respond(context, path, rejectionResponse(METHOD), parts));
  }
  for (const path of [SETTINGS, `${SETTINGS}/`]) {
    app.options(path, (context) => preflight(context));
    app.get(path, allowEveryOrigin, (context) =>
      respond(context, SETTINGS, { status: 200, body: SOURCE_CONFIG }, parts),
    );
  }
  app.post(DELETIONS, ...guards, async (context) =>
    respond(context, DELETIONS, await handleDeletion(ingestRequestOf(context), handlers), parts),
  );
  app.get(`${DELETIONS}/:id`, async (context) => {
    const response = await findDeletion(context.env.incoming, context.req.param('id'), handlers);
    return respond(context, DELETIONS, response, parts);
  });
  addMonitoring(app, parts);
  app.notFound((context) => respond(context, 'other', rejectionResponse(NOT_FOUND), parts));
  app.onError((error, context) => {
    const fields = { ...errorFields(error), stack: error.stack };
    parts.log.error('unhandled error while serving a request', fields);
    return respond(context, 'other', rejectionResponse(INTERNAL_ERROR), parts);
  });
  return app;
}

const DELETIONS = '/v1/deletions';

/** Path from which RudderStack's libraries load their settings. */
const SETTINGS = '/sourceConfig';

const METHOD: IngestRejection = { status: 405, code: 'method', message: 'method not allowed, use POST' };

const NOT_FOUND: IngestRejection = {
  status: 404,
  code: 'not-found',
  message: 'not found',
  hint: 'post messages to /v1/batch, or to /v1/track and the like',
};

const allowEveryOrigin: MiddlewareHandler<Env> = (context, next) => {
  for (const [name, value] of Object.entries(ANY_ORIGIN)) context.header(name, value);
  return next();
};

function rejectWhenStopping(parts: AppParts): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (!parts.stopping.aborted) return next();
    return respond(context, context.req.path, rejectionResponse(STOPPING), parts);
  };
}

/** Counts a request's body in the bytes in flight until its response is ready. */
function countBytesInFlight({ bytesInFlight }: AppParts): MiddlewareHandler<Env> {
  return async (context, next) => {
    const share = new ByteShare(bytesInFlight);
    context.set('share', share);
    try {
      await next();
    } finally {
      share.shrinkTo(0);
    }
  };
}

function ingestRequestOf(context: Context<Env>): IngestRequest {
  return { request: context.env.incoming, share: context.get('share') };
}

/** Adds the monitoring routes, which require no key and show no secrets. */
function addMonitoring(app: Hono<Env>, parts: AppParts): void {
  const { metrics, stopping } = parts;
  const isStoreReady = storeProbe(parts);
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', async (context) => {
    if (stopping.aborted) return context.json({ status: 'stopping' }, 503);
    if (!(await parts.hasDescriptors())) return context.json({ status: 'out of file descriptors' }, 503);
    if (await isStoreReady()) return context.json({ status: 'ready' });
    return context.json({ status: 'storage unavailable' }, 503);
  });
  if (parts.servesMetrics) addMetrics(app, metrics);
}

/** Creates the app of a separate port for `/metrics`. */
export function createMetricsApp({ metrics }: Pick<AppParts, 'metrics'>): Hono<Env> {
  const app = new Hono<Env>();
  addMetrics(app, metrics);
  return app;
}

function addMetrics(app: Hono<Env>, metrics: AppParts['metrics']): void {
  app.get('/metrics', async (context) =>
    context.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
}

function preflight(context: Context<Env>): Response {
  return context.body(null, 204, preflightHeaders(context.env.incoming.headers));
}

/** Longest wait for the store in a readiness probe: probes time out sooner than a write that waits for a lock. */
const LONGEST_MS = 2_000;

/** Creates a probe that tells whether the store accepts messages. Logs every change, even while no client sends requests. */
function storeProbe({ checkStore, clock, log }: Pick<ServiceOptions, 'checkStore' | 'clock' | 'log'>) {
  let isReady = true;
  const check = async (): Promise<boolean> => {
    try {
      await checkStore();
      if (!isReady) log.info('storage available again');
      isReady = true;
    } catch (error) {
      // A busy store does not change the result: requests get 429 until the store is free, and a retry succeeds.
      if (error instanceof QueueError && error.isBusy) return isReady;
      if (isReady) log.error('storage unavailable', errorFields(error));
      isReady = false;
    }
    return isReady;
  };
  // Concurrent callers of the probe share one check.
  let checking: Promise<boolean> | undefined;
  return async (): Promise<boolean> => {
    checking ??= check().finally(() => (checking = undefined));
    const over = new AbortController();
    const late = sleep(clock, LONGEST_MS, over.signal).then(() => false);
    return Promise.race([checking, late]).finally(() => over.abort());
  };
}
