import { Hono, type Context, type MiddlewareHandler } from 'hono';
import type { HandlerContext, IngestRequest } from './request/read-request.ts';
import { handleMessages } from './handle-messages.ts';
import { handleDeletion, findDeletion } from './handle-deletion.ts';
import { ByteShare } from './request/byte-share.ts';
import type { WeightedSemaphore } from '../weighted-semaphore.ts';
import type { ServiceOptions } from './options.ts';
import { errorFields } from './log.ts';
import { Readiness } from './readiness.ts';
import { MESSAGE_PATHS, PREFLIGHT_HEADERS } from './request/message-paths.ts';
import { respond, rejectionResponse, type Env, type ResponseContext } from './request/respond.ts';
import { STOPPING, type IngestRejection } from './request/rejection.ts';

interface AppParts extends ResponseContext, Pick<ServiceOptions, 'checkStore' | 'clock'> {
  readonly bytesInFlight: WeightedSemaphore;
  /** Whether `/metrics` is on this port. */
  readonly servesMetrics: boolean;
}

/** The routes of the service. */
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
    return respond(context, 'other', rejectionResponse(FAULT), parts);
  });
  return app;
}

const DELETIONS = '/v1/deletions';

const METHOD: IngestRejection = { status: 405, code: 'method', message: 'method not allowed, use POST' };

const NOT_FOUND: IngestRejection = {
  status: 404,
  code: 'not-found',
  message: 'not found',
  hint: 'post messages to /v1/batch, or to /v1/track and the like',
};

const FAULT: IngestRejection = { status: 500, code: 'fault', message: 'internal error of the service' };

/** Lets a browser post from any page: it may do what the write key in the page may do. */
const allowEveryOrigin: MiddlewareHandler<Env> = (context, next) => {
  context.header('access-control-allow-origin', '*');
  return next();
};

function rejectWhenStopping(parts: AppParts): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (!parts.stopping.aborted) return next();
    return respond(context, context.req.path, rejectionResponse(STOPPING), parts);
  };
}

/** Counts a request's body among the bytes in flight until its response is made. */
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

/** The routes of monitoring: they need no key and show nothing secret. */
function addMonitoring(app: Hono<Env>, parts: AppParts): void {
  const { metrics, stopping } = parts;
  const readiness = new Readiness(parts);
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', async (context) => {
    if (stopping.aborted) return context.json({ status: 'stopping' }, 503);
    if (await readiness.isReady()) return context.json({ status: 'ready' });
    return context.json({ status: 'storage unavailable' }, 503);
  });
  if (parts.servesMetrics) addMetrics(app, metrics);
}

/** The routes of a port for Prometheus alone. */
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
  for (const [name, value] of PREFLIGHT_HEADERS) context.header(name, value);
  return context.body(null, 204);
}
