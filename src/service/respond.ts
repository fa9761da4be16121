import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ServiceResponse } from './answer.ts';
import type { ServiceOptions } from './options.ts';
import { isPassing, type IngestRejection } from './refusal.ts';

export type Env = { Bindings: HttpBindings };

export interface Saying extends Pick<ServiceOptions, 'metrics' | 'log'> {
  readonly retryAfterSeconds: number;
  /** Aborted when no more calls are taken. */
  readonly stopping: AbortSignal;
}

/** Makes the response of an answer, counted and logged. `route` is its path in the table of routes. */
export function respond(
  context: Context<Env>,
  route: string,
  answer: ServiceResponse | undefined,
  saying: Saying,
): Response {
  // Whoever called has gone.
  if (answer === undefined) return context.body(null, 400);
  const { status, body, refusal, source } = answer;
  saying.metrics.request(route, status);
  if (refusal === undefined) saying.log.debug('answered', { route, status, source });
  else sayRefused(context, route, { refusal, source }, saying);
  // Else a connection that is never idle would keep the service from ending.
  if (saying.stopping.aborted) context.header('connection', 'close');
  return context.json(body, status as ContentfulStatusCode); // every status here goes with a body
}

function sayRefused(
  context: Context<Env>,
  route: string,
  { refusal, source }: { readonly refusal: IngestRejection; readonly source: string | undefined },
  { log, retryAfterSeconds }: Saying,
): void {
  const { status, code, message } = refusal;
  const fields = { route, status, code, reason: message, source };
  // Under overload there would be a line a request; the metrics count them.
  if (!isPassing(refusal)) return log.info('refused', fields);
  log.debug('refused', fields);
  context.header('retry-after', String(retryAfterSeconds));
}
