import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ByteShare } from './byte-share.ts';
import type { ServiceOptions } from '../options.ts';
import { isTemporary, rejectionBody, type IngestRejection } from './rejection.ts';

/** What a request comes to, before it is counted, logged and written. */
export interface ServiceResponse {
  readonly status: number;
  readonly body: object;
  /** For the log. */
  readonly rejection?: IngestRejection;
  readonly source?: string;
}

export function rejectionResponse(rejection: IngestRejection, source?: string): ServiceResponse {
  return {
    status: rejection.status,
    body: rejectionBody(rejection),
    rejection,
    ...(source !== undefined && { source }),
  };
}

/** `share`: the request's part of the bytes in flight, where its body is read. */
export type Env = { Bindings: HttpBindings; Variables: { share: ByteShare } };

export interface ResponseContext extends Pick<ServiceOptions, 'metrics' | 'log'> {
  readonly retryAfterSeconds: number;
  /** Aborted when no more requests are taken. */
  readonly stopping: AbortSignal;
}

/** Counts, logs and writes a response. `route` is its path in the table of routes. */
export function respond(
  context: Context<Env>,
  route: string,
  response: ServiceResponse | undefined,
  responseContext: ResponseContext,
): Response {
  // The caller has gone.
  if (response === undefined) return context.body(null, 400);
  const { status, body, rejection, source } = response;
  const { metrics, log, stopping } = responseContext;
  metrics.request(route, status);
  if (rejection === undefined) log.debug('responded', { route, status, source });
  else respondRejection(context, route, { rejection, source }, responseContext);
  // Otherwise a connection that is never idle would keep the service from ending.
  if (stopping.aborted) context.header('connection', 'close');
  return context.json(body, status as ContentfulStatusCode); // every status here goes with a body
}

function respondRejection(
  context: Context<Env>,
  route: string,
  { rejection, source }: { readonly rejection: IngestRejection; readonly source: string | undefined },
  { log, retryAfterSeconds }: ResponseContext,
): void {
  const { status, code, message } = rejection;
  const fields = { route, status, code, reason: message, source };
  // Under overload there would be a line a request; the metrics count them.
  if (!isTemporary(rejection)) return log.info('rejected', fields);
  log.debug('rejected', fields);
  context.header('retry-after', String(retryAfterSeconds));
}
