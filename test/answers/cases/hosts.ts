import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { nginx } from './gateways.ts';
import { WITH_PROBES, responding, testing, type RespondingCase } from './sending.ts';

const UBUNTU = 'nginx/1.24.0 (Ubuntu)';
const NGINX = { Server: UBUNTU };
const CLOUDFLARE = { Server: 'cloudflare' };
const HTTP_API = { 'apigw-requestid': 'abc=' };
const REST_API = { 'x-amzn-RequestId': '0f1c2d3e-4b5a', 'x-amzn-ErrorType': 'InternalServerErrorException' };
const CRASH = "Cannot read properties of undefined (reading 'x-signature')";
const NOT_RUNNING = 'the application behind it is not running';
const CLOUDWATCH = 'look into the log of the function (CloudWatch';

/** Who responds, with what, and the words that name it with its fix. */
type HostResponse = readonly [
  id: string,
  response: Pick<RespondingCase, 'status' | 'headers' | 'body'>,
  cause: string,
  fix: string,
  never?: readonly string[],
];

const FUNCTIONS: readonly HostResponse[] = [
  [
    'api-gateway-502',
    { status: 502, headers: REST_API, body: '{"message": "Internal server error"}' },
    'the host of the function responded in place of the application, which failed or returned no',
    CLOUDWATCH,
    [NOT_RUNNING],
  ],
  [
    'http-api-500',
    { status: 500, headers: HTTP_API, body: '{"message":"Internal Server Error"}' },
    'the host of the function responded in place of the application, which failed or returned no',
    CLOUDWATCH,
  ],
  [
    'http-api-503',
    { status: 503, headers: HTTP_API, body: '{"message":"Service Unavailable"}' },
    'the host of the function responded in place of the application, which failed or returned no',
    CLOUDWATCH,
  ],
  [
    'http-api-404',
    { status: 404, headers: HTTP_API, body: '{"message":"Not Found"}' },
    'Not Found',
    'compare host and path of the URL with the routes of the receiver',
  ],
  [
    'lambda-url',
    { status: 502, headers: { 'x-amzn-RequestId': '1' }, body: 'Internal Server Error' },
    'the host of the function responded in place of the application, which failed or returned no',
    CLOUDWATCH,
    [NOT_RUNNING],
  ],
  [
    'vercel-function',
    {
      status: 500,
      headers: { Server: 'Vercel' },
      body: 'A server error has occurred\n\nFUNCTION_INVOCATION_FAILED\n\nfra1::abcde\n',
    },
    'the host of the function responded in place of the application, which failed or returned no',
    'look into the log of the function (CloudWatch, vercel logs, netlify logs',
  ],
  [
    'netlify-function',
    {
      status: 502,
      headers: { Server: 'Netlify' },
      body: JSON.stringify({ errorType: 'TypeError', errorMessage: CRASH, trace: [`TypeError: ${CRASH}`] }),
    },
    'the host of the function responded in place of the application, which failed or returned no valid',
    'look into the log of the function (CloudWatch, vercel logs, netlify logs',
    [NOT_RUNNING],
  ],
  [
    'netlify-return',
    {
      status: 502,
      headers: { Server: 'Netlify' },
      body: 'error decoding lambda response: invalid status code returned from lambda: 0',
    },
    'the host of the function responded in place of the application, which failed or returned no',
    'let it return { statusCode: 200, body: "" }',
    [NOT_RUNNING],
  ],
  [
    'netlify-usage',
    { status: 503, headers: { Server: 'Netlify' }, body: 'usage_exceeded' },
    'usage_exceeded',
    'look into its log for the reason; if it is in maintenance, end that',
  ],
  [
    'cloudflare-worker',
    {
      status: 500,
      headers: CLOUDFLARE,
      body: '<!DOCTYPE html><html><head><title>Worker threw exception | a.workers.dev | Cloudflare</title></head>',
    },
    'the host of the function responded in place of the application, which failed or returned no',
    'npx wrangler tail',
  ],
  [
    'cloudflare-dns',
    { status: 403, headers: CLOUDFLARE, body: 'error code: 1000' },
    'Cloudflare responded in place of the application: its DNS record leads',
    'correct the DNS record of 127.0.0.1 at Cloudflare',
    ['its own words'],
  ],
];

const IN_FRONT: readonly HostResponse[] = [
  [
    'nginx-deny',
    { status: 403, headers: NGINX, body: nginx('403 Forbidden', UBUNTU) },
    'nginx responded in place of the application, which never saw the message',
    'allow POST to /hook there: a rule for this path',
    ['its own words', 'same secret'],
  ],
  [
    'nginx-limit',
    { status: 503, headers: NGINX, body: nginx('503 Service Temporarily Unavailable', UBUNTU) },
    'nginx responded in place of the application, which did not get the message: there are too many requests (limit_req)',
    'raise the limit of requests (nginx: limit_req) or send more slowly',
  ],
  [
    'nginx-header',
    { status: 400, headers: NGINX, body: nginx('400 Request Header Or Cookie Too Large', UBUNTU) },
    'nginx responded in place of the application, which never saw the message',
    'allow POST to /hook there: a rule for this path, or for the addresses of',
    ['its own words'],
  ],
  [
    'traefik-503',
    { status: 503, body: 'no available server\n' },
    'Traefik responded in place of the application, which is not available to it: no instance of it is ready, or the connection to it failed',
    'look whether the application runs; if it does, let it respond with 2xx',
  ],
  [
    'ngrok-gateway',
    {
      status: 502,
      headers: { 'Ngrok-Error-Code': 'ERR_NGROK_3004' },
      body: 'ngrok gateway error ERR_NGROK_3004',
    },
    'the ngrok tunnel is up, but no HTTP server listens at its target port',
    'start the receiver, and ngrok with its port: ngrok http 3000, or ngrok',
    ['is not running'],
  ],
  [
    'ngrok-restricted',
    {
      status: 403,
      headers: { 'Ngrok-Error-Code': 'ERR_NGROK_3205' },
      body: 'Your IP is restricted from accessing the endpoint. ERR_NGROK_3205',
    },
    'ngrok responded in place of the application, which never saw the message',
    'allow POST to /hook there: a rule for this path',
    ['is not running'],
  ],
  [
    'heroku-maintenance',
    { status: 503, body: '<iframe src="//www.herokucdn.com/error-pages/maintenance-mode.html"></iframe>' },
    'Heroku responded in place of the application, which is not running, took longer than 30 s, or is in maintenance',
    'heroku maintenance:off',
    ['crashed'],
  ],
  [
    'iis-config',
    {
      status: 500,
      headers: { Server: 'Microsoft-IIS/10.0' },
      body: '<h3>HTTP Error 500.19 - Internal Server Error</h3>',
    },
    'HTTP Error 500.19 - Internal Server Error',
    'repair this in the receiver',
  ],
];

const FRAMEWORKS: readonly HostResponse[] = [
  [
    'laravel-login',
    { status: 401, body: '{"message":"Unauthenticated."}' },
    'Unauthenticated.',
    "if the request has what it wants, look at what arrives (nginx drops names with _); else give it: --header 'Authorization",
    ['same secret'],
  ],
  [
    'laravel-back',
    { status: 302, headers: { Location: 'http://localhost' } },
    'it redirects to http://localhost',
    "--header 'Accept: application/json' to see why",
  ],
  [
    'drf-permission',
    { status: 403, body: '{"detail":"You do not have permission to perform this action."}' },
    'You do not have permission to perform this action.',
    'permission_classes = [AllowAny]',
    ['same secret'],
  ],
  [
    'wordpress-login',
    { status: 401, body: '{"code":"rest_forbidden","message":"Sorry, you are not allowed to do that."}' },
    'Sorry, you are not allowed to do that.',
    "'permission_callback' => '__return_true'",
    ['same secret'],
  ],
  [
    'rails-record',
    {
      status: 404,
      body: `{"status":404,"error":"Not Found","exception":"#<ActiveRecord::RecordNotFound: Couldn't find User>"}`,
    },
    "#<ActiveRecord::RecordNotFound: Couldn't find User>",
    'if the route is there, find these words in its handler',
    ['check the path'],
  ],
  [
    'spring-header',
    {
      status: 400,
      body: `{"status":400,"message":"Required request header 'X-Hub-Signature' for method parameter type String is not present"}`,
    },
    'it does not see the signature, which was sent: it expects another scheme, reads another header',
    'send by the scheme that it verifies by',
  ],
  [
    'fastapi-query',
    { status: 422, body: '{"detail":[{"type":"missing","loc":["query","payload"],"msg":"Field required"}]}' },
    'FastAPI looks for a parameter of the handler in the query of the URL',
    'declare where each parameter is: the message as the body',
    ['same secret', 'every message type'],
  ],
];

const STATUSES: readonly HostResponse[] = [
  ['status-406', { status: 406 }, '406 Not Acceptable', 'head :ok'],
  ['status-407', { status: 407 }, '407 Proxy Authentication Required', 'let the proxy pass /hook'],
  ['status-411', { status: 411 }, '411 Length Required', 'proxy_request_buffering on'],
  ['status-421', { status: 421 }, '421 Misdirected Request', 'server_name'],
  ['status-426', { status: 426 }, '426 Upgrade Required', 'with https:// where it wants TLS'],
];

/** What still takes a response for one about the signature, or about some of the messages. */
const ASKED_MORE = new Set([
  'spring-header',
  'drf-permission',
  'wordpress-login',
  'fastapi-query',
  'rails-record',
  'iis-config',
]);

function cases([id, response, cause, fix, never = []]: HostResponse): readonly AnswerCase[] {
  const answer: RespondingCase = { id: `host-${id}`, title: id, ...response, cause, fix, never };
  const isAskedMore = ASKED_MORE.has(id);
  return [responding(answer), testing({ ...answer, ...(isAskedMore && { maxRequests: WITH_PROBES }) })];
}

/** Bodies and headers as hosts, gateways and frameworks send them. */
export const HOSTS: AnswerTheme = {
  title: 'A host, a function or a framework responds in its own way',
  cases: [...FUNCTIONS, ...IN_FRONT, ...FRAMEWORKS, ...STATUSES].flatMap(cases),
};
