import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { responding, SIGNED, testing, WITH_PROBES, type RespondingCase } from './sending.ts';

/** A response, and the words that name it with its fix. `title`s stand on the page; a case without one is a variant. */
interface Said extends Pick<RespondingCase, 'body' | 'headers' | 'never' | 'cause' | 'fix' | 'argv'> {
  readonly id: string;
  readonly title?: string;
  readonly status: number;
}

const json = (error: string): string => JSON.stringify({ error });
const DJANGO = (host: string, words: string): string =>
  `<title>DisallowedHost at /hook</title><h1>DisallowedHost at /hook</h1><pre class="exception_value">Invalid HTTP_HOST header: &#x27;${host}&#x27;. ${words}</pre>`;
const NOT_SENT = ['headers that were not sent', 'same secret', 'by another scheme'];

const HOSTS: readonly Said[] = [
  {
    id: 'django-host-named',
    title: 'Django, behind a proxy, does not know the name that the proxy gives it',
    status: 400,
    body: DJANGO('backend:8000', 'You may need to add &#x27;backend&#x27; to ALLOWED_HOSTS.'),
    cause: 'the server does not accept requests for the host that it was asked for',
    fix: 'add it to the hosts that the server allows (Django ALLOWED_HOSTS, Rails',
    never: ['127.0.0.1 '],
  },
  {
    id: 'django-host-underscore',
    title: 'Django is asked for a name with an underscore',
    status: 400,
    body: DJANGO('my_app:8000', 'The domain name provided is not valid according to RFC 1034/1035.'),
    cause: 'the server does not accept requests for the host that it was asked for',
    fix: 'add it to the hosts that the server allows (Django ALLOWED_HOSTS, Rails',
    never: ['ALLOWED_HOSTS in'],
  },
  {
    id: 'rails-host-named',
    status: 403,
    body: '<!DOCTYPE html><html><head><title>Action Controller: Exception caught</title></head><body><header><h1>Blocked hosts: abc.ngrok.io</h1></header></body></html>',
    cause: 'the server does not accept requests for the host that it was asked for',
    fix: 'add it to the hosts that the server allows (Django ALLOWED_HOSTS, Rails',
  },
  {
    id: 'vite-host-named',
    status: 403,
    body: 'Blocked request. This host ("abc.ngrok.io") is not allowed.\nTo allow this host, add "abc.ngrok.io" to `server.allowedHosts` in vite.config.js.',
    cause: 'the server does not accept requests for the host that it was asked for',
    fix: 'add it to the hosts that the server allows (Django ALLOWED_HOSTS, Rails',
  },
];

const TIMES: readonly Said[] = [
  { status: 400, words: 'timestamp too old' },
  { status: 400, words: 'Message timestamp too old' },
  { status: 400, words: 'Timestamp outside the tolerance zone' },
  { status: 401, words: 'Signature expired' },
  { status: 401, words: 'Signature timestamp is in the future' },
].map(({ status, words }, index) => ({
  id: `time-${index}`,
  ...(index === 0 && { title: 'the receiver finds the timestamp too old, or in the future' }),
  status,
  body: json(words),
  cause: words,
  fix: 'compare the clocks of both machines…hooks replay --timestamps now',
  never: NOT_SENT,
}));

const CONTEXTS: readonly Said[] = [
  {
    id: 'event-about-csrf',
    status: 400,
    body: json('event "CSRF Token Rotated" is not in tracking plan'),
    cause: 'event "CSRF Token Rotated" is not in tracking plan',
    fix: 'find these words in the receiver or in the proxy in front of it',
    never: ['wants a CSRF token', 'wants a token'],
  },
  {
    id: 'field-about-key',
    status: 422,
    body: json('API key field must not be in properties'),
    cause: 'API key field must not be in properties',
    fix: 'find these words in the receiver or in the proxy in front of it',
    never: ['it wants an API key'],
  },
  {
    id: 'field-signature-version',
    status: 400,
    body: json('missing field signature_version'),
    cause: 'missing field signature_version',
    fix: 'accept the fields of every message type',
    never: ['does not see the signature', 'expects another scheme'],
  },
  {
    id: 'redirect-login-events',
    status: 302,
    headers: { Location: '/webhook/login-events' },
    body: '',
    cause: 'it redirects to /webhook/login-events',
    fix: 'give the URL that it leads to, if that is the receiver',
    never: ['login page'],
  },
  {
    id: 'scheme-without-x-signature',
    title: 'the message is signed as Stripe does, for a receiver of X-Signature',
    status: 401,
    body: json('missing X-Signature'),
    argv: [...SIGNED, '--scheme', 'stripe'],
    cause: 'it does not see the signature, which was sent: it expects another scheme',
    fix: 'send by the scheme that it verifies by (--scheme; the default sends X-',
    never: ['same secret'],
  },
  {
    id: 'svix-headers',
    title: 'the receiver verifies as Svix does',
    status: 401,
    body: json('Missing required headers'),
    cause: 'it does not see the signature, which was sent: it expects another scheme',
    fix: 'send by the scheme that it verifies by',
  },
];

/** All of them come with 500. */
const SERVICES: readonly Omit<Said, 'status'>[] = [
  {
    id: 'unique-email',
    title: 'a unique constraint forbids a value of the message',
    body: json('duplicate key value violates unique constraint "users_email_key"'),
    cause: 'duplicate key value violates unique constraint "users_email_key"',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
    never: ['already has this message', '({named})'],
  },
  {
    id: 'unique-message-id',
    title: 'the receiver fails on a message that it has already',
    body: json('duplicate key value violates unique constraint "events_message_id_key"'),
    cause: 'duplicate key value violates unique constraint "events_message_id_key"',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'connections-mysql',
    title: 'the database has no connection left',
    body: json('ER_CON_COUNT_ERROR: Too many connections'),
    cause: 'ER_CON_COUNT_ERROR: Too many connections',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
    never: ['start the database'],
  },
  {
    id: 'connections-postgres',
    body: json('remaining connection slots are reserved for non-replication superuser connections'),
    cause: 'remaining connection slots are reserved for non-replication superuser',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'database-password',
    title: 'the database does not accept the password',
    body: json('password authentication failed for user "app"'),
    cause: 'password authentication failed for user "app"',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'redis-password',
    body: json('NOAUTH Authentication required.'),
    cause: 'NOAUTH Authentication required.',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'postgres-nul',
    title: 'PostgreSQL gets the character U+0000',
    body: json('invalid byte sequence for encoding "UTF8": 0x00'),
    cause: 'invalid byte sequence for encoding',
    fix: 'repair this in the receiver',
  },
  {
    id: 'service-refused',
    title: 'another service refuses the connection of the receiver',
    body: json('request to http://billing:8080/charge failed, reason: connect ECONNREFUSED 10.0.0.5:8080'),
    cause: 'connect ECONNREFUSED 10.0.0.5:8080',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
    never: ['its database'],
  },
  {
    id: 'service-not-found',
    title: 'the receiver does not find another service',
    body: json('getaddrinfo ENOTFOUND redis'),
    cause: 'getaddrinfo ENOTFOUND redis',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'service-certificate',
    title: 'the receiver calls a service with a certificate that it does not trust',
    body: json('self signed certificate in certificate chain'),
    cause: 'self signed certificate in certificate chain',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'disk-full',
    title: 'Error: ENOSPC: no space left on device, write',
    headers: { 'X-Powered-By': 'Express' },
    body: '<pre>Error: ENOSPC: no space left on device, write</pre>',
    cause: 'ENOSPC: no space left on device, write',
    fix: 'repair this in the receiver, or in what it depends on',
  },
  {
    id: 'file-permission',
    title: 'the receiver may not open a file',
    body: json("EACCES: permission denied, open '/data/x'"),
    cause: "EACCES: permission denied, open '/data/x'",
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'memory-full',
    title: 'the receiver has no memory left',
    body: json('JavaScript heap out of memory'),
    cause: 'JavaScript heap out of memory',
    fix: 'repair this in the receiver, or in what it depends on (its log says where)',
  },
  {
    id: 'php-fatal',
    title: 'a fatal error of PHP',
    headers: { 'X-Powered-By': 'PHP/8.2.1', 'Content-Type': 'text/html' },
    body: '<br />\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function hash_hmacc() in /var/www/html/hook.php:3\nStack trace:\n#0 {main}',
    cause: 'Fatal error: Uncaught Error: Call to undefined function hash_hmacc() in',
    fix: 'repair this in the receiver',
  },
];

const IN_FRONT: readonly Said[] = [
  {
    id: 'cloudflare-524',
    title: 'Cloudflare does not wait any longer',
    status: 524,
    headers: { Server: 'cloudflare', 'CF-Ray': '8-AMS' },
    body: '<!DOCTYPE html><title>x | 524: A timeout occurred</title>',
    cause: 'Cloudflare responded in place of the application, which took too long',
    fix: 'let the receiver respond first and work later',
    never: ['cannot reach'],
  },
  {
    id: 'cloudflare-1016',
    title: 'the DNS record at Cloudflare leads nowhere',
    status: 530,
    headers: { Server: 'cloudflare', 'CF-Ray': '8-AMS' },
    body: '<!DOCTYPE html><title>Origin DNS error | x | Cloudflare</title>Error 1016',
    cause: 'Cloudflare responded in place of the application: its DNS record leads',
    fix: 'correct the DNS record of 127.0.0.1 at Cloudflare',
    never: ['SSL mode'],
  },
  {
    id: 'n8n',
    title: 'the workflow of n8n is not active',
    status: 404,
    body: '{"code":404,"message":"The requested webhook \\"POST n8n\\" is not registered.","hint":"The workflow must be active for a production URL to run successfully. You can activate the workflow using the toggle in the top-right of the editor."}',
    cause: 'is not registered. (hint: The workflow must be active for a production URL',
    fix: 'You can activate the workflow using the toggle',
  },
  {
    id: 'dev-tunnel-private',
    title: 'the port of a dev tunnel of VS Code is private',
    status: 401,
    headers: { 'WWW-Authenticate': 'tunnel' },
    cause: 'it wants HTTP authentication, whatever the signature',
    fix: 'a dev tunnel: make its port public',
  },
  {
    id: 'codespace-private',
    title: 'the port of a codespace is private',
    status: 302,
    headers: { Location: 'https://github.com/codespaces/auth/abc?port=3000' },
    cause: 'it redirects to a login page: https://github.com/codespaces/auth/abc',
    fix: 'a forwarded port of a codespace: make it public',
  },
  {
    id: 'iis-500-30',
    title: 'ASP.NET Core does not start under IIS',
    status: 500,
    headers: { Server: 'Microsoft-IIS/10.0' },
    body: '<!DOCTYPE html><title>IIS 10.0 Detailed Error - 500.30 - ASP.NET Core app failed to start</title>',
    cause: 'ASP.NET Core app failed to start',
    fix: 'repair this in the receiver',
  },
  {
    id: 'laravel-down',
    title: 'Laravel is in maintenance mode',
    status: 503,
    headers: { 'X-Powered-By': 'PHP/8.2.1', 'Retry-After': '60' },
    body: '<title>Service Unavailable</title>',
    cause: 'the receiver, or a proxy in front of it, is not available now, Retry-After 60 s',
    fix: 'look into its log for the reason; if it is in maintenance, end that',
    never: ['log of the receiver'],
  },
];

/** They stop no other check of hooks test, or let it look for a mistake in verifying. */
const ALL = [
  ...HOSTS,
  ...TIMES,
  ...CONTEXTS,
  ...SERVICES.map((said) => ({ ...said, status: 500 })),
  ...IN_FRONT,
];

function cases({ title, ...said }: Said): readonly AnswerCase[] {
  const answer: RespondingCase = { title: title ?? said.id, argv: SIGNED, ...said };
  return [
    responding(answer),
    ...(said.argv === undefined ? [testing({ ...answer, maxRequests: WITH_PROBES })] : []),
  ];
}

/** What the receiver, or what it needs, says of itself. */
export const SERVICES_THEME: AnswerTheme = {
  title: 'The receiver lacks something, or takes words for another meaning',
  cases: ALL.flatMap(cases),
};
