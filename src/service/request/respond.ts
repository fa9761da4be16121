import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { escapeInJson } from '../../redact.ts';
import type { ByteShare } from './byte-share.ts';
import type { LineLimit } from '../line-limit.ts';
import type { ServiceOptions } from '../options.ts';
import { isTemporary, rejectionBody, type IngestRejection } from './rejection.ts';

/** A response before it is counted, logged and written. */
export interface ServiceResponse {
  readonly status: number;
  readonly body: object;
  /** The rejection that the response reports, for the log. */
  readonly rejection?: IngestRejection;
  readonly source?: string | undefined;
}

export function rejectionResponse(rejection: IngestRejection, source?: string): ServiceResponse {
  return { status: rejection.status, body: rejectionBody(rejection), rejection, source };
}

/** Hono's types. `share` is the request's share of the bytes in flight, on routes that read a body. */
export type Env = { Bindings: HttpBindings; Variables: { share: ByteShare } };

/** Rejections that share a limit of log lines, because a client can cause any number of them. */
export interface RejectionGroup {
  readonly route?: string;
  readonly status: number;
  readonly code: string | undefined;
  readonly source: string | undefined;
}

export interface ResponseContext extends Pick<ServiceOptions, 'metrics' | 'log'> {
  readonly retryAfterSeconds: number;
  readonly rejectionLimit: LineLimit<RejectionGroup>;
  /** Aborts when no more requests are accepted. */
  readonly stopping: AbortSignal;
}

/** Counts, logs and writes a response. `route` is the path of the route, for log and metrics. */
export function respond(
  context: Context<Env>,
  route: string,
  response: ServiceResponse | undefined,
  responseContext: ResponseContext,
): Response {
  // The sender disconnected, so the status of this response does not matter.
  if (response === undefined) return context.body(null, 400);
  const { status, body, rejection, source } = response;
  const { metrics, log, stopping } = responseContext;
  metrics.request(route, status);
  if (rejection === undefined) log.debug('responded', { route, status, source });
  else respondRejection(context, route, { rejection, source }, responseContext);
  // While the service stops, each response closes its connection, because a connection that is never idle would delay the
  // end.
  if (stopping.aborted) context.header('connection', 'close');
  // Escapes control characters of messages, because a person may read the response at a terminal.
  const json = escapeInJson(JSON.stringify(body));
  context.header('content-type', 'application/json');
  return context.body(json, status as ContentfulStatusCode); // every status here goes with a body
}

function respondRejection(
  context: Context<Env>,
  route: string,
  { rejection, source }: { readonly rejection: IngestRejection; readonly source: string | undefined },
  { log, retryAfterSeconds, rejectionLimit }: ResponseContext,
): void {
  const { status, code, message } = rejection;
  const fields = { route, status, code, reason: message, source };
  // A temporary rejection is logged at debug level only, because overload causes one per request. The metrics count it.
  if (!isTemporary(rejection)) {
    if (rejectionLimit.getsLine({ route, status, code, source })) log.info('rejected', fields);
    return;
  }
  log.debug('rejected', fields);
  context.header('retry-after', String(retryAfterSeconds));
}
