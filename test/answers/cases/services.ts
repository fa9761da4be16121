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
    cause: 'Django does not know the host backend',
    fix: "add it to ALLOWED_HOSTS in settings.py: 'backend'",
    never: ['127.0.0.1 '],
  },
  {
    id: 'django-host-underscore',
    title: 'Django is asked for a name with an underscore',
    status: 400,
    body: DJANGO('my_app:8000', 'The domain name provided is not valid according to RFC 1034/1035.'),
    cause: 'Django was asked for the host my_app, which is not a valid name: …no underscore',
    fix: 'rename it (my-app instead of my_app)',
    never: ['ALLOWED_HOSTS in'],
  },
  {
    id: 'rails-host-named',
    status: 403,
    body: '<!DOCTYPE html><html><head><title>Action Controller: Exception caught</title></head><body><header><h1>Blocked hosts: abc.ngrok.io</h1></header></body></html>',
    cause: 'Rails does not know the host abc.ngrok.io',
    fix: 'allow it: config.hosts << "abc.ngrok.io"',
  },
  {
    id: 'vite-host-named',
    status: 403,
    body: 'Blocked request. This host ("abc.ngrok.io") is not allowed.\nTo allow this host, add "abc.ngrok.io" to `server.allowedHosts` in vite.config.js.',
    cause: 'the development server (Vite) does not know the host abc.ngrok.io',
    fix: "allow it: server: { allowedHosts: ['abc.ngrok.io'] }",
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
  cause: `it considers the time of the message or of its signature too old, or in the future: "${words}"`,
  fix: 'compare the clocks of both machines…hooks replay --timestamps now',
  never: NOT_SENT,
}));

const CONTEXTS: readonly Said[] = [
  {
    id: 'event-about-csrf',
    status: 400,
    body: json('event "CSRF Token Rotated" is not in tracking plan'),
    cause: 'it gives its reason in its own words: "event "CSRF Token Rotated" is not in tracking plan"',
    fix: 'do what these words ask for',
    never: ['wants a CSRF token', 'wants a token'],
  },
  {
    id: 'field-about-key',
    status: 422,
    body: json('API key field must not be in properties'),
    cause: '"API key field must not be in properties"',
    fix: 'do what these words ask for',
    never: ['it wants an API key'],
  },
  {
    id: 'field-signature-version',
    status: 400,
    body: json('missing field signature_version'),
    cause:
      'its validation rejects the message: it expects other fields or types: "missing field signature_version"',
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
    cause: 'it expects X-Signature, which was not sent: the signing scheme sends other headers',
    fix: 'leave the scheme out (--scheme',
    never: ['same secret'],
  },
  {
    id: 'svix-headers',
    title: 'the receiver verifies as Svix does',
    status: 401,
    body: json('Missing required headers'),
    cause: 'it verifies by another scheme: it expects headers that were not sent',
    fix: 'send by the scheme that it expects (--scheme)',
  },
];

/** All of them come with 500. */
const SERVICES: readonly Omit<Said, 'status'>[] = [
  {
    id: 'unique-email',
    title: 'a unique constraint forbids a value of the message',
    body: json('duplicate key value violates unique constraint "users_email_key"'),
    cause:
      'a constraint of its database rejects a value of the message: "duplicate key value violates unique constraint "users_email_key""',
    fix: 'let the receiver handle that: update the row',
    never: ['already has this message', '({named})'],
  },
  {
    id: 'unique-message-id',
    title: 'the receiver fails on a message that it has already',
    body: json('duplicate key value violates unique constraint "events_message_id_key"'),
    cause: 'its database already has this message (events_message_id_key)',
    fix: 'respond with 2xx to a known messageId',
  },
  {
    id: 'connections-mysql',
    title: 'the database has no connection left',
    body: json('ER_CON_COUNT_ERROR: Too many connections'),
    cause: 'the receiver, or its database, has no connection left',
    fix: 'let all its requests share one small pool of connections',
    never: ['start the database'],
  },
  {
    id: 'connections-postgres',
    body: json('remaining connection slots are reserved for non-replication superuser connections'),
    cause: 'the receiver, or its database, has no connection left: "remaining connection slots',
    fix: '(max_connections)',
  },
  {
    id: 'database-password',
    title: 'the database does not accept the password',
    body: json('password authentication failed for user "app"'),
    cause: 'its database does not accept the user and password that the receiver has',
    fix: 'correct them in the settings of the receiver',
  },
  {
    id: 'redis-password',
    body: json('NOAUTH Authentication required.'),
    cause: 'its database does not accept the user and password that the receiver has: "NOAUTH',
    fix: 'redis://:PASSWORD@HOST:6379',
  },
  {
    id: 'postgres-nul',
    title: 'PostgreSQL gets the character U+0000',
    body: json('invalid byte sequence for encoding "UTF8": 0x00'),
    cause: 'its database (PostgreSQL) cannot store the character U+0000',
    fix: 'remove it before storing',
  },
  {
    id: 'service-refused',
    title: 'another service refuses the connection of the receiver',
    body: json('request to http://billing:8080/charge failed, reason: connect ECONNREFUSED 10.0.0.5:8080'),
    cause: 'the receiver needs a service at 10.0.0.5:8080, which refuses connections',
    fix: 'start that service',
    never: ['its database'],
  },
  {
    id: 'service-not-found',
    title: 'the receiver does not find another service',
    body: json('getaddrinfo ENOTFOUND redis'),
    cause: 'the receiver needs a service at redis, and finds no host of that name',
    fix: 'check the name in the settings of the receiver',
  },
  {
    id: 'service-certificate',
    title: 'the receiver calls a service with a certificate that it does not trust',
    body: json('self signed certificate in certificate chain'),
    cause: 'the receiver does not trust the certificate of a service that it calls',
    fix: 'NODE_EXTRA_CA_CERTS=ca.pem',
  },
  {
    id: 'disk-full',
    title: 'the disk of the receiver is full',
    headers: { 'X-Powered-By': 'Express' },
    body: '<pre>Error: ENOSPC: no space left on device, write</pre>',
    cause: 'the disk of the receiver is full',
    fix: 'make room on the machine of the receiver',
  },
  {
    id: 'file-permission',
    title: 'the receiver may not open a file',
    body: json("EACCES: permission denied, open '/data/x'"),
    cause: 'the receiver may not open a file or port: "EACCES: permission denied, open \'/data/x\'"',
    fix: 'give its user the right to it',
  },
  {
    id: 'memory-full',
    title: 'the receiver has no memory left',
    body: json('JavaScript heap out of memory'),
    cause: 'the program of the receiver has no memory left',
    fix: 'give it more (NODE_OPTIONS=--max-old-space-size',
  },
  {
    id: 'php-fatal',
    title: 'a fatal error of PHP',
    headers: { 'X-Powered-By': 'PHP/8.2.1', 'Content-Type': 'text/html' },
    body: '<br />\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function hash_hmacc() in /var/www/html/hook.php:3\nStack trace:\n#0 {main}',
    cause: 'its program failed: "Error: Call to undefined function hash_hmacc() in /var/www/html/hook.php:3"',
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
    cause: '524: Cloudflare responds: the receiver took longer than Cloudflare waits, which is 100 s',
    fix: 'let the receiver respond first and work later',
    never: ['cannot reach'],
  },
  {
    id: 'cloudflare-1016',
    title: 'the DNS record at Cloudflare leads nowhere',
    status: 530,
    headers: { Server: 'cloudflare', 'CF-Ray': '8-AMS' },
    body: '<!DOCTYPE html><title>Origin DNS error | x | Cloudflare</title>Error 1016',
    cause: 'Cloudflare responds, not the receiver: its DNS record leads nowhere',
    fix: 'correct the DNS record of 127.0.0.1 at Cloudflare',
    never: ['SSL mode'],
  },
  {
    id: 'n8n',
    title: 'the workflow of n8n is not active',
    status: 404,
    body: '{"code":404,"message":"The requested webhook \\"POST n8n\\" is not registered.","hint":"Click the \'Execute workflow\' button"}',
    cause:
      'n8n has no active workflow with this webhook: "The requested webhook "POST n8n" is not registered."',
    fix: 'activate the workflow',
    never: ['check the path'],
  },
  {
    id: 'dev-tunnel-private',
    title: 'the port of a dev tunnel of VS Code is private',
    status: 401,
    headers: { 'WWW-Authenticate': 'tunnel' },
    cause: 'the port of the dev tunnel is private',
    fix: 'make it public',
    never: ['Bearer'],
  },
  {
    id: 'codespace-private',
    title: 'the port of a codespace is private',
    status: 302,
    headers: { Location: 'https://github.com/codespaces/auth/abc?port=3000' },
    cause: 'the port of the codespace is private',
    fix: 'gh codespace ports visibility 3000:public',
    never: ['exempt'],
  },
  {
    id: 'iis-500-30',
    title: 'ASP.NET Core does not start under IIS',
    status: 500,
    headers: { Server: 'Microsoft-IIS/10.0' },
    body: '<!DOCTYPE html><title>IIS 10.0 Detailed Error - 500.30 - ASP.NET Core app failed to start</title>',
    cause: 'IIS could not start the ASP.NET Core application',
    fix: 'look into the event log of Windows',
  },
  {
    id: 'laravel-down',
    title: 'Laravel is in maintenance mode',
    status: 503,
    headers: { 'X-Powered-By': 'PHP/8.2.1', 'Retry-After': '60' },
    body: '<title>Service Unavailable</title>',
    cause:
      'the PHP application says that it is not available, Retry-After 60 s; Laravel in maintenance mode does so',
    fix: 'php artisan up',
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
