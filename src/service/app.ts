import { Hono, type Context } from 'hono';
import type { MessageType } from '../message/types.ts';
import { refused, type ServiceResponse } from './answer.ts';
import type { Answering, Asked } from './answer-body.ts';
import { answerCalls } from './answer-calls.ts';
import { answerDeletion, findDeletion } from './answer-deletion.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ServiceOptions } from './options.ts';
import { errorFields } from './log.ts';
import { Readiness } from './readiness.ts';
import { STOPPING, type IngestRejection } from './refusal.ts';
import { respond, type Env, type Saying } from './respond.ts';

interface AppParts extends Saying, Pick<ServiceOptions, 'checkStore' | 'clock'> {
  readonly budget: ByteBudget;
}

type Route = (context: Context<Env>) => Promise<Response>;

/** What calls are posted to, and their type; the letters are what the browser's and the phones' SDKs use. */
const CALL_PATHS: Readonly<Record<string, MessageType | undefined>> = {
  batch: undefined,
  import: undefined,
  b: undefined,
  identify: 'identify',
  i: 'identify',
  track: 'track',
  t: 'track',
  page: 'page',
  p: 'page',
  screen: 'screen',
  s: 'screen',
  group: 'group',
  g: 'group',
  alias: 'alias',
  a: 'alias',
};

/** The routes of the service. */
export function createApp(answering: Answering, parts: AppParts): Hono<Env> {
  const app = new Hono<Env>();
  for (const [name, type] of Object.entries(CALL_PATHS)) {
    const path = `/v1/${name}`;
    app.options(path, (context) => preflight(context));
    app.post(
      path,
      posted(path, parts, { isOpen: true }, (asked) => answerCalls(asked, type, answering)),
    );
    app.all(path, (context) => respond(context, path, refused(METHOD), parts));
  }
  const deletions = '/v1/deletions';
  app.post(
    deletions,
    posted(deletions, parts, { isOpen: false }, (asked) => answerDeletion(asked, answering)),
  );
  app.get(`${deletions}/:id`, async (context) => {
    const answer = await findDeletion(context.env.incoming, context.req.param('id'), answering);
    return respond(context, deletions, answer, parts);
  });
  addWatching(app, parts);
  app.notFound((context) => respond(context, 'other', refused(NOT_FOUND), parts));
  app.onError((error, context) => {
    parts.log.error('a request met a fault of the service', { ...errorFields(error), stack: error.stack });
    return respond(context, 'other', refused(FAULT), parts);
  });
  return app;
}

const METHOD: IngestRejection = { status: 405, code: 'method', message: 'calls come as POST' };

const NOT_FOUND: IngestRejection = {
  status: 404,
  code: 'not-found',
  message: 'there is nothing at this path',
  hint: 'calls go to /v1/batch, or to /v1/track and the like',
};

const FAULT: IngestRejection = { status: 500, code: 'fault', message: 'this is a fault of the service' };

/** For those who look after it: no key is asked for, and nothing secret is said. */
function addWatching(app: Hono<Env>, parts: AppParts): void {
  const { metrics, stopping } = parts;
  const readiness = new Readiness(parts);
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', async (context) => {
    if (stopping.aborted) return context.json({ status: 'stopping' }, 503);
    if (await readiness.isReady()) return context.json({ status: 'ready' });
    return context.json({ status: 'store unavailable' }, 503);
  });
  app.get('/metrics', async (context) =>
    context.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
}

/** A route whose body counts among the bytes in flight until it is answered. */
function posted(
  path: string,
  parts: AppParts,
  { isOpen }: { readonly isOpen: boolean },
  answer: (asked: Asked) => Promise<ServiceResponse | undefined>,
): Route {
  return async (context) => {
    // A browser may call from any page: what it may do is what the write key in the page may do.
    if (isOpen) context.header('access-control-allow-origin', '*');
    if (parts.stopping.aborted) return respond(context, path, refused(STOPPING), parts);
    const share = parts.budget.open();
    try {
      const { incoming: request } = context.env;
      return respond(context, path, await answer({ request, share }), parts);
    } finally {
      share.shrinkTo(0);
    }
  };
}

function preflight(context: Context<Env>): Response {
  context.header('access-control-allow-origin', '*');
  context.header('access-control-allow-methods', 'POST');
  context.header('access-control-allow-headers', 'authorization, content-type, content-encoding');
  context.header('access-control-max-age', '86400');
  return context.body(null, 204);
}
