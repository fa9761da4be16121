import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { nginx } from './gateways.ts';
import { WITH_PROBES, responding, testing, type RespondingCase } from './sending.ts';

const UBUNTU = 'nginx/1.24.0 (Ubuntu)';
const NGINX = { Server: UBUNTU };
const CLOUDFLARE = { Server: 'cloudflare' };
const HTTP_API = { 'apigw-requestid': 'abc=' };
const CRASH = "Cannot read properties of undefined (reading 'x-signature')";
const NOT_RUNNING = 'the application behind it is not running';
const CLOUDWATCH = 'look into the log of the function (CloudWatch)';

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
    { status: 502, body: '{"message": "Internal server error"}' },
    '502: AWS API Gateway responds: the function failed',
    CLOUDWATCH,
    [NOT_RUNNING],
  ],
  [
    'http-api-500',
    { status: 500, headers: HTTP_API, body: '{"message":"Internal Server Error"}' },
    '500: AWS API Gateway responds: the function failed',
    CLOUDWATCH,
  ],
  [
    'http-api-503',
    { status: 503, headers: HTTP_API, body: '{"message":"Service Unavailable"}' },
    '503: AWS API Gateway responds: the function failed',
    CLOUDWATCH,
  ],
  [
    'http-api-404',
    { status: 404, headers: HTTP_API, body: '{"message":"Not Found"}' },
    'AWS API Gateway has no route for POST /hook',
    'check the path and the method of the route',
  ],
  [
    'lambda-url',
    { status: 502, headers: { 'x-amzn-RequestId': '1' }, body: 'Internal Server Error' },
    '502: AWS Lambda responds: the function failed',
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
    '500: the function failed at its host',
    'the log of the function at its host (vercel logs',
  ],
  [
    'netlify-function',
    {
      status: 502,
      headers: { Server: 'Netlify' },
      body: JSON.stringify({ errorType: 'TypeError', errorMessage: CRASH, trace: [`TypeError: ${CRASH}`] }),
    },
    `502: the function failed at its host: "${CRASH}"`,
    'repair it; the log of the function',
    [NOT_RUNNING],
  ],
  [
    'netlify-return',
    {
      status: 502,
      headers: { Server: 'Netlify' },
      body: 'error decoding lambda response: invalid status code returned from lambda: 0',
    },
    'the function returned no valid response',
    'let it return { statusCode: 200, body: "" }',
    [NOT_RUNNING],
  ],
  [
    'netlify-usage',
    { status: 503, headers: { Server: 'Netlify' }, body: 'usage_exceeded' },
    'its host does not run it: a limit of the plan is reached',
    'look into the account of the receiver at its host',
  ],
  [
    'cloudflare-worker',
    {
      status: 500,
      headers: CLOUDFLARE,
      body: '<!DOCTYPE html><html><head><title>Worker threw exception | a.workers.dev | Cloudflare</title></head>',
    },
    'the Cloudflare Worker failed',
    'npx wrangler tail',
  ],
  [
    'cloudflare-dns',
    { status: 403, headers: CLOUDFLARE, body: 'error code: 1000' },
    'Cloudflare responds, not the receiver: its DNS record leads nowhere',
    'correct the DNS record of 127.0.0.1 at Cloudflare',
    ['its own words'],
  ],
];

const IN_FRONT: readonly HostResponse[] = [
  [
    'nginx-deny',
    { status: 403, headers: NGINX, body: nginx('403 Forbidden', UBUNTU) },
    'the proxy (nginx/1.24.0 (Ubuntu)) rejects the request by a rule of its own',
    'look into its error.log, and let this path through',
    ['its own words', 'same secret'],
  ],
  [
    'nginx-limit',
    { status: 503, headers: NGINX, body: nginx('503 Service Temporarily Unavailable', UBUNTU) },
    'or its limit of requests is reached (nginx: limit_req)',
    'where it runs, raise that limit',
  ],
  [
    'nginx-header',
    { status: 400, headers: NGINX, body: nginx('400 Request Header Or Cookie Too Large', UBUNTU) },
    'the URL or the headers are too long for it',
    'send fewer or shorter headers (--header)',
    ['its own words'],
  ],
  [
    'traefik-503',
    { status: 503, body: 'no available server\n' },
    '503: the proxy (Traefik) responds, not the receiver: no server behind it is up',
    'start the application',
  ],
  [
    'ngrok-gateway',
    {
      status: 502,
      headers: { 'Ngrok-Error-Code': 'ERR_NGROK_3004' },
      body: 'ngrok gateway error ERR_NGROK_3004',
    },
    'the ngrok tunnel is up, but its target gives no valid HTTP response',
    'check the target port of ngrok, and its protocol',
    ['is not running'],
  ],
  [
    'ngrok-restricted',
    {
      status: 403,
      headers: { 'Ngrok-Error-Code': 'ERR_NGROK_3205' },
      body: 'Your IP is restricted from accessing the endpoint. ERR_NGROK_3205',
    },
    'ngrok responds with an error of its own, not the receiver: "Your IP is restricted',
    'https://ngrok.com/docs/errors/',
    ['is not running'],
  ],
  [
    'heroku-maintenance',
    { status: 503, body: '<iframe src="//www.herokucdn.com/error-pages/maintenance-mode.html"></iframe>' },
    '503: Heroku responds, not the receiver: its maintenance mode is on',
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
    'IIS cannot read the web.config of the receiver',
    'repair web.config',
  ],
];

const FRAMEWORKS: readonly HostResponse[] = [
  [
    'laravel-login',
    { status: 401, body: '{"message":"Unauthenticated."}' },
    'it wants a token or a login, whatever the signature: "Unauthenticated."',
    "give it: --header 'Authorization: Bearer …'",
    ['same secret'],
  ],
  [
    'laravel-back',
    { status: 302, headers: { Location: 'http://localhost' } },
    'it redirects to a front page, http://localhost',
    "--header 'Accept: application/json' to see why",
  ],
  [
    'drf-permission',
    { status: 403, body: '{"detail":"You do not have permission to perform this action."}' },
    'a permission class of Django REST framework rejects the request',
    'permission_classes = [AllowAny]',
    ['same secret'],
  ],
  [
    'wordpress-login',
    { status: 401, body: '{"code":"rest_forbidden","message":"Sorry, you are not allowed to do that."}' },
    'WordPress wants a login for this route',
    "'permission_callback' => '__return_true'",
    ['same secret'],
  ],
  [
    'rails-record',
    {
      status: 404,
      body: `{"status":404,"error":"Not Found","exception":"#<ActiveRecord::RecordNotFound: Couldn't find User>"}`,
    },
    'the route runs, but does not find a record that the message names',
    'create the record there, or respond with 2xx',
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
    'FastAPI looks for the message in the query of the URL',
    'declare the parameter as the body',
    ['same secret', 'every message type'],
  ],
];

const STATUSES: readonly HostResponse[] = [
  ['status-406', { status: 406 }, 'it has no response of a type that the request accepts', 'head :ok'],
  [
    'status-407',
    { status: 407 },
    'a proxy in between wants a user and a password (407)',
    'let the proxy pass /hook',
  ],
  ['status-411', { status: 411 }, 'it wants Content-Length, which was sent', 'proxy_request_buffering on'],
  ['status-412', { status: 412 }, 'it wants a condition such as If-Match', "--header 'If-Match: *'"],
  ['status-421', { status: 421 }, 'the server that responds is not the one of 127.0.0.1', 'server_name'],
  [
    'status-426',
    { status: 426 },
    'it accepts only another protocol (426)',
    'with https:// where it wants TLS',
  ],
  ['status-428', { status: 428 }, 'it wants a condition such as If-Match', "--header 'If-Match: *'"],
];

/** What still takes a response for one about the signature, or about some of the messages. */
const ASKED_MORE = new Set(['spring-header', 'drf-permission', 'fastapi-query', 'rails-record']);

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
