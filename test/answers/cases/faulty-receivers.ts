import { createHmac } from 'node:crypto';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { nginx } from './gateways.ts';
import {
  hmac,
  isJson,
  responds,
  rightBut,
  SECRET,
  type CounterpartRequest,
  type Respond,
} from '../counterparts.ts';

interface FaultyReceiver extends Omit<AnswerCase, 'given' | 'argv'> {
  readonly receiver: () => Respond;
  readonly secret?: string;
  readonly flags?: readonly string[];
}

const isForgery = (request: CounterpartRequest): boolean => request.body.includes('Hooks Test Forgery');
const typeOf = (request: CounterpartRequest): unknown =>
  /"type":"([^"]+)"/.exec(request.body.toString())?.[1];
const verifies = (digest: (body: Buffer) => string | undefined): Respond => {
  return rightWhen((request) => request.headers['x-signature'] === digest(request.body));
};
const isAnonymous = ({ body }: CounterpartRequest): boolean =>
  body.includes('"anonymousId"') && !body.includes('"userId"');
const rightWhen = (isValid: (request: CounterpartRequest) => boolean): Respond => {
  return (request) => (isValid(request) ? { body: 'ok' } : { status: 401, body: 'bad signature' });
};
type Planted = Awaited<ReturnType<Respond>>;
/** Right but for forgeries, which get `response`. */
const toForgers = (response: Planted): Respond =>
  rightBut((_request, isValid) => (isValid ? undefined : response));
/** Right but for the signed messages that are meant, which get `response`. */
const toSigned = (
  response: Planted,
  isMeant: (request: CounterpartRequest) => boolean = () => true,
): Respond => rightBut((request, isValid) => (isValid && isMeant(request) ? response : undefined));
const toLarge = (response: Planted): Respond =>
  rightBut(({ body }) => (body.length > 16_384 ? response : undefined));
/** Remembers each signed body, and responds so when it comes again. */
const toDuplicates = (response: Planted): Respond => {
  const seen = new Set<string>();
  return toSigned(response, ({ body }) => {
    const isSeen = seen.has(body.toString());
    seen.add(body.toString());
    return isSeen;
  });
};
const digest = (algorithm: string, body: Buffer | string, encoding: 'hex' | 'base64' = 'hex', key = SECRET) =>
  createHmac(algorithm, key).update(body).digest(encoding);

const RECEIVERS: readonly FaultyReceiver[] = [
  {
    id: 'takes-everything',
    title: 'the receiver verifies nothing',
    receiver: () => responds(200, 'ok'),
    cause:
      'it accepts everything: it does not verify signatures, responds before it has verified them, or the URL is not the receiver',
    fix: 'compare it with X-Signature, and respond with 401',
    never: ['it lets forgers in', 'not only when it is wrong', 'in short:', 'it accepts bodies that'],
  },
  {
    id: 'takes-unsigned',
    title: 'the receiver verifies only when there is a signature',
    receiver: () => rightBut(({ headers }) => (headers['x-signature'] === undefined ? {} : undefined)),
    cause: 'it lets forgers in: it accepts a message without X-Signature',
    fix: 'respond with 401 when the header is missing, not only when it is wrong',
    never: ['it accepts everything'],
  },
  {
    id: 'takes-prefix',
    title: 'the receiver compares only as many characters as came',
    receiver: () =>
      rightBut(({ headers, body }) =>
        isJson(body) && hmac(body).startsWith(String(headers['x-signature'] ?? '-')) ? {} : undefined,
      ),
    cause: 'it lets forgers in: a part of the signature is enough',
    fix: 'compare whole digests',
  },
  {
    id: 'signs-part',
    title: 'the receiver verifies a signature over the type alone',
    receiver: () => {
      const seen = new Set<string>();
      return rightBut(({ headers, body }, isValid) => {
        if (isValid) seen.add(String(headers['x-signature']));
        const signed = Buffer.from(body.toString().replace('99.5', '27.5'));
        return isJson(body) && headers['x-signature'] === hmac(signed) ? {} : undefined;
      });
    },
    cause: 'it lets forgers in: the signature of one body passes for another',
    fix: 'compute the signature over the whole body of this request',
  },
  {
    id: 'fails-on-odd-signature',
    title: 'timingSafeEqual throws on another length',
    receiver: () =>
      rightBut(({ headers }) =>
        headers['x-signature']?.length === 40
          ? undefined
          : { status: 500, body: 'RangeError: Input buffers must have the same byte length' },
      ),
    cause: 'it compares signatures of different lengths or types, for which timingSafeEqual and',
    fix: 'compare the lengths first and respond with 401',
  },
  {
    id: 'fails-on-forgeries',
    title: 'the receiver fails on a wrong signature',
    receiver: () => toForgers({ status: 500, body: 'oops' }),
    cause: 'it fails instead of rejecting: usually an uncaught error of the comparison',
    fix: 'respond with 401 to every request that does not verify',
  },
  {
    id: 'verifies-sha256',
    title: 'the receiver computes HMAC-SHA256',
    receiver: () => verifies((body) => digest('sha256', body)),
    cause: 'it expects an HMAC with SHA-256 instead of SHA-1',
    fix: 'compute the HMAC-SHA1 of the raw body in hex',
  },
  {
    id: 'verifies-sha512',
    title: 'the receiver computes HMAC-SHA512',
    receiver: () => verifies((body) => digest('sha512', body)),
    cause: 'it expects an HMAC with SHA-512 instead of SHA-1',
    fix: 'compute the HMAC-SHA1 of the raw body in hex',
  },
  {
    id: 'verifies-base64',
    title: 'the receiver expects base64',
    receiver: () => verifies((body) => digest('sha1', body, 'base64')),
    cause: 'it expects the digest in base64 instead of hex',
    fix: 'compute the HMAC-SHA1 of the raw body in hex',
  },
  {
    id: 'verifies-prefixed',
    title: 'the receiver expects sha1= in front, as GitHub sends it',
    receiver: () => verifies((body) => `sha1=${hmac(body)}`),
    cause: 'it expects sha1= in front of the digest',
    fix: 'compute the HMAC-SHA1 of the raw body in hex',
  },
  {
    id: 'verifies-upper-case',
    title: 'the receiver compares with upper-case hex',
    receiver: () => verifies((body) => hmac(body).toUpperCase()),
    cause: 'it expects the digest in upper-case hex',
    fix: 'compute the HMAC-SHA1 of the raw body in hex',
  },
  {
    id: 'verifies-pretty',
    title: 'the receiver hashes the JSON indented',
    receiver: () => verifies((body) => hmac(JSON.stringify(parsed(body), null, 2))),
    cause: 'it hashes re-serialized JSON: it accepts what is signed',
    fix: 'hash the bytes of the body as received, before any parser',
  },
  {
    id: 'verifies-python',
    title: 'the receiver hashes json.dumps of the parsed body',
    receiver: () =>
      verifies((body) => {
        const spaced = JSON.stringify(parsed(body), null, 1).replace(/\n\s*/g, ' ');
        return hmac(
          spaced.replaceAll('{ ', '{').replaceAll(' }', '}').replaceAll('[ ', '[').replaceAll(' ]', ']'),
        );
      }),
    cause: 'it hashes re-serialized JSON: it accepts what is signed as json.dumps of Python writes it',
    fix: 'hash the bytes of the body as received, before any parser',
  },
  {
    id: 'secret-with-newline',
    title: "the receiver's secret has a newline at its end",
    receiver: () => verifies((body) => hmac(body, `${SECRET}\n`)),
    cause: 'it accepts what is signed',
    fix: 'give the receiver exactly the secret that the sender has, without white space or quotes',
  },
  {
    id: 'secret-in-quotes',
    title: "the receiver's secret has quotes around it",
    receiver: () => verifies((body) => hmac(body, `"${SECRET}"`)),
    cause: 'it accepts what is signed',
    fix: 'without white space or quotes around it',
  },
  {
    id: 'secret-empty',
    title: 'the variable of the secret is not set at the receiver',
    receiver: () => verifies((body) => hmac(body, '')),
    cause: 'it accepts what is signed with an empty secret',
    fix: 'of a text that is not hex, Buffer.from(secret, "hex") gives an empty key',
  },
  {
    id: 'secret-decoded-sha256',
    title: 'the receiver decodes the secret from hex, and computes HMAC-SHA256 in base64',
    secret: 'c0ffee00',
    receiver: () =>
      verifies((body) => createHmac('sha256', Buffer.from('c0ffee00', 'hex')).update(body).digest('base64')),
    cause:
      'it expects an HMAC with SHA-256 instead of SHA-1 and the digest in base64 instead of hex, and accepts what is signed with the secret decoded from hex',
    fix: 'compute the HMAC-SHA1 of the raw body in hex',
  },
  {
    id: 'secret-example',
    title: 'the receiver has the secret of an example',
    receiver: () => verifies((body) => hmac(body, 'changeme')),
    cause: 'it accepts what is signed with "changeme" as the secret, as examples have it',
    fix: 'give the receiver exactly the secret that the sender has',
    never: ['is not set'],
  },
  {
    id: 'inverted',
    title: 'the receiver accepts messages whose signature is wrong, and rejects the right ones',
    receiver: () =>
      rightBut((_request, isValid) => (isValid ? { status: 401, body: 'bad signature' } : { body: 'ok' })),
    cause:
      'it lets forgers in: a forged message gets 200, and a correct one 401: it compares the wrong way around',
    fix: 'respond with 401 if the signatures differ, and with 2xx if they are equal',
  },
  {
    id: 'nil-there',
    title: 'the receiver passes nil on (Ruby), as with a misspelt name of the header',
    receiver: () => responds(500, 'TypeError: no implicit conversion of nil into String'),
    cause: 'no implicit conversion of nil into String',
    fix: "check the names of headers and of the secret's variable",
    never: ['has no secret'],
  },
  {
    id: 'refuses-in-words',
    title: 'the receiver refuses forgeries in words, with status 200',
    receiver: () => toForgers({ body: 'invalid signature' }),
    cause: 'it rejects in words, but with status 200',
    fix: 'respond with 401',
    never: ['it accepts everything', 'lets forgers in'],
  },
  {
    id: 'redirects-forgeries',
    title: 'the receiver redirects forgeries to a login',
    receiver: () => toForgers({ status: 302, headers: { Location: '/login' } }),
    cause: 'it redirects instead of rejecting',
    fix: 'respond with 401',
    never: ['redirects to a login page', 'exempt /hook'],
  },
  {
    id: 'page-for-forgeries',
    title: 'the receiver shows a page to forgers',
    receiver: () => toForgers({ body: '<html><p>No' }),
    cause: 'it responds with 200 and an HTML page instead of rejecting',
    fix: 'respond with 401',
    never: ['website', 'it accepts everything'],
  },
  {
    id: 'page-for-messages',
    title: 'the receiver responds to messages with a page, and fails on what is not JSON',
    receiver: () =>
      rightBut(({ body }, isValid) => {
        if (!isValid) return undefined;
        return isJson(body) ? { body: '<html><p>Thanks' } : { status: 500, body: 'oops' };
      }),
    cause: 'it fails on a body that is not JSON',
    fix: 'verify first, then parse',
    never: ['website', 'not tried'],
  },
  {
    id: 'hashes-part',
    title: 'the receiver hashes the first 16 KB of a body',
    receiver: () => (request) =>
      request.headers['x-signature'] === hmac(request.body.subarray(0, 16_384))
        ? { status: isJson(request.body) ? 200 : 400 }
        : { status: 401, body: 'bad signature' },
    cause: 'it hashes only a part of a longer body',
    fix: 'read the body to its end',
    never: ['a limit on bodies', 'raise the limit'],
  },
  {
    id: 'shown-digest',
    title: 'two mistakes at once, and the response shows the digest that the receiver computes',
    receiver: () => (request) => ({
      status: 401,
      body: `expected ${hmac(JSON.stringify(parsed(request.body), null, 2), `${SECRET}\n`)}`,
    }),
    cause: 'it shows the signature that it expects: it would match with a newline at the end of the secret',
    fix: 'Use the secret without white space',
  },
  {
    id: 'csrf-in-words',
    title: 'a refused signature names a page about CSRF',
    receiver: () => responds(403, '{"error":"signature mismatch, see docs/csrf-and-signatures"}'),
    cause: 'it rejects correct and forged messages alike with 403, and blames the signature',
    fix: 'check that it has the same secret, and let it print "computed" and the digest that it computes',
    never: ['CSRF token'],
  },
  {
    id: 'bearer-in-words',
    title: 'a refused signature comes with WWW-Authenticate',
    receiver: () =>
      responds(401, '', { 'WWW-Authenticate': 'Bearer error_description="HMAC signature mismatch"' }),
    cause: 'it rejects correct and forged messages alike with 401',
    fix: "look into the receiver's log for this request: if its handler does not run",
    never: ['wants a token'],
  },
  {
    id: 'redirect-to-itself',
    title: 'the URL redirects to itself',
    receiver: () => responds(302, '', { Location: '/hook' }),
    cause: 'it redirects to /hook',
    fix: 'if it is the same URL again, respond with 2xx there',
  },
  {
    id: 'secret-other',
    title: 'sender and receiver have different secrets',
    receiver: () => rightBut(undefined, 'another secret'),
    cause: 'it rejects correct and forged messages alike with 401, and blames the signature',
    fix: 'check that it has the same secret, and let it print "computed" and the digest that it computes',
    never: ['✓ unsigned', '✓ tampered'],
  },
  {
    id: 'test-without-secret',
    title: 'hooks test has no secret, and the receiver wants signatures',
    receiver: () => rightBut(),
    secret: '',
    cause: 'it rejects unsigned messages with 401',
    fix: 'give the secret that it verifies with: --secret-file FILE or HOOKS_SECRET',
    never: ['its validation', '✓ malformed', 'No secret given'],
    exitCode: 2,
  },
  {
    id: 'other-header',
    title: 'the receiver reads X-Hub-Signature instead of X-Signature',
    receiver: () =>
      rightBut(({ headers }) =>
        headers['x-hub-signature'] === undefined
          ? { status: 401, body: '{"error":"Missing signature header"}' }
          : {},
      ),
    cause: 'it does not see the signature, which was sent',
    fix: 'send by the scheme that it verifies by',
  },
  {
    id: 'other-scheme',
    title: 'the receiver verifies Standard Webhooks and wants a timestamp',
    receiver: () => responds(400, '{"error":"Missing required webhook-timestamp: missing timestamp"}'),
    cause: 'it does not see the signature, which was sent: it expects another scheme',
    fix: 'send by the scheme that it verifies by',
  },
  {
    id: 'needs-user-id',
    title: 'the receiver fails on anonymous users',
    receiver: () => toSigned({ status: 500 }, isAnonymous),
    cause: 'it fails only on messages that have no `userId`',
    fix: 'anonymousId can stand in place of userId',
  },
  {
    id: 'base64-and-newline',
    title: 'the receiver writes base64, and its secret ends in a newline',
    receiver: () => verifies((body) => createHmac('sha1', `${SECRET}\n`).update(body).digest('base64')),
    cause:
      'it expects the digest in base64 instead of hex, and accepts what is signed with a newline at the end',
    fix: 'give the receiver exactly the secret that the sender has',
  },
  {
    id: 'compares-upper-case',
    title: 'the receiver writes the digest in upper case, and prints it',
    receiver: () => (request) => ({ status: 401, body: `expected ${hmac(request.body).toUpperCase()}` }),
    cause: 'it shows the right signature as the one that it expects',
    fix: 'both in one case',
  },
  {
    id: 'rejects-anonymous',
    title: 'the validation of the receiver requires userId',
    receiver: () => toSigned({ status: 422, body: '{"error":"userId is required"}' }, isAnonymous),
    cause: 'it rejects only messages that have no `userId`',
    fix: 'userId may be missing',
  },
  {
    id: 'fails-on-duplicate',
    title: 'a unique key makes the receiver fail on a duplicate',
    receiver: () => toDuplicates({ status: 500, body: 'UNIQUE constraint failed: events.message_id' }),
    cause: 'it rejects a message that it has seen before, or fails on it',
    fix: 'that you know already, and do nothing (INSERT … ON CONFLICT DO NOTHING)',
  },
  {
    id: 'rejects-duplicate',
    title: 'the receiver responds with 409 to a duplicate',
    receiver: () => toDuplicates({ status: 409 }),
    cause: 'it rejects a message that it has seen before',
    fix: 'respond with 2xx to a messageId or Idempotency-Key that you know already, and do nothing',
  },
  {
    id: 'fails-on-emoji',
    title: 'the receiver fails on emoji, and does not say why',
    receiver: () => toSigned({ status: 500, body: 'error' }, ({ body }) => body.includes('👩')),
    cause: 'it fails on emoji and other scripts: probably it decodes the body in another charset',
    fix: 'hash and keep the bytes of the body, decode them as UTF-8, and store text as utf8mb4',
  },
  {
    id: 'small-limit',
    title: 'a limit on bodies of 16 KB',
    receiver: () => toLarge({ status: 413 }),
    cause: 'it rejects a body of 32 KB',
    fix: 'raise the limit on bodies to 64 KB',
  },
  {
    id: 'small-limit-express',
    title: 'express.json with a limit of 16kb',
    receiver: () => toLarge({ status: 413, body: 'PayloadTooLargeError: request entity too large' }),
    cause: 'PayloadTooLargeError: request entity too large',
    fix: "express.json({ limit: '64kb' })",
  },
  {
    id: 'small-limit-nginx',
    title: 'client_max_body_size of nginx is too small',
    receiver: () =>
      toLarge({
        status: 413,
        headers: { Server: 'nginx/1.25.3' },
        body: nginx('413 Request Entity Too Large'),
      }),
    cause: 'only smaller bodies are accepted there',
    fix: 'client_max_body_size',
  },
  {
    id: 'small-limit-reset',
    title: 'the connection is cut at a large body',
    receiver: () => toLarge('reset'),
    cause: 'it rejects a body of 32 KB, fails on it, or closes the connection: a limit on bodies',
    fix: 'raise the limit on bodies to 64 KB',
  },
  {
    id: 'short-column',
    title: 'a database column is too short',
    receiver: () => toLarge({ status: 500, body: 'ERROR: value too long for type character varying(255)' }),
    cause: 'value too long for type character varying',
    fix: 'repair this in the receiver',
  },
  {
    id: 'fails-on-malformed',
    title: 'the parser throws on what is not JSON',
    receiver: () => toSigned({ status: 500, body: 'oops' }, ({ body }) => !isJson(body)),
    cause: 'it fails on a body that is not JSON: usually an uncaught error of the parser',
    fix: 'verify first, then parse; respond with 400 to bodies that are not JSON',
  },
  {
    id: 'only-track',
    title: 'the receiver takes track alone',
    receiver: () =>
      toSigned(
        { status: 422, body: '{"error":"type must be track"}' },
        (request) => typeOf(request) !== 'track',
      ),
    cause: 'type must be track',
    fix: 'accept the fields of every message type',
    never: ['re-serialized'],
  },
  {
    id: 'error-in-200',
    title: 'the receiver responds with 200 and an error in the body',
    receiver: () => toForgers({ body: '{"error":"invalid signature"}' }),
    cause: 'it rejects in the JSON of its body, but with status 200',
    fix: 'respond with 401 instead',
    never: ['it lets forgers in'],
  },
  {
    id: 'database-down',
    title: "the receiver's database is down",
    receiver: () => toSigned({ status: 500, body: 'connect ECONNREFUSED 127.0.0.1:5432' }),
    cause: 'connect ECONNREFUSED 127.0.0.1:5432',
    fix: 'repair this in the receiver, or in what it depends on',
  },
  {
    id: 'migrations',
    title: 'the migrations of the receiver did not run',
    receiver: () => toSigned({ status: 500, body: 'relation "events" does not exist' }),
    cause: 'relation "events" does not exist',
    fix: 'repair this in the receiver, or in what it depends on',
  },
  {
    id: 'secret-undefined',
    title: 'createHmac gets no secret at the receiver',
    receiver: () =>
      responds(
        500,
        'TypeError [ERR_INVALID_ARG_TYPE]: The "key" argument must be of type string or an instance of ArrayBuffer. Received undefined',
      ),
    cause: 'The "key" argument must be of type string or an instance of ArrayBuffer. Received undefined',
    fix: 'set the secret where the receiver runs',
  },
  {
    id: 'rate-limit-from-start',
    title: 'a rate limit refuses every message',
    receiver: () => responds(429, 'Too Many Requests', { 'Retry-After': '2' }),
    cause: 'it limits the rate (429, Retry-After 2 s)',
    fix: 'lift the limit for this address while testing',
    never: ['needs userId', 'no userId', 'unique key', 'error of the comparison'],
  },
  {
    id: 'rate-limit-midway',
    title: 'a rate limit of ten requests',
    receiver: () => rightBut(({ index }) => (index >= 10 ? { status: 429 } : undefined)),
    cause: 'it limits the rate (429)',
    fix: 'lift the limit for this address while testing',
    never: ['no userId', 'unique key', 'error of the comparison', 'emoji', '32 KB: '],
  },
  {
    id: 'slow-receiver',
    title: 'the receiver works before it responds',
    receiver: () => async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return rightBut()(request);
    },
    flags: ['--timeout', '2s', '--only', 'track,latency'],
    cause: 'the slowest response took',
    fix: 'respond with 2xx first and do the work later: put the message into a queue',
  },
  {
    id: 'never-answers',
    title: 'the receiver never responds',
    receiver: () => () => 'hang',
    flags: ['--timeout', '200ms'],
    cause: 'it responds to nothing in time, not even to a forgery or at another path',
    fix: 'check whether the program is still starting, or waits for something',
  },
  {
    id: 'breaks-off',
    title: 'the receiver crashes on a group',
    receiver: () => toSigned('reset', (request) => typeOf(request) === 'group'),
    cause: 'it closes the connection only on messages that are of type group',
    fix: "look into the receiver's log for the reason",
  },
  {
    id: 'forgery-gateway',
    title: 'the proxy responds with 502 to forgeries, since the application dies on them',
    receiver: () =>
      rightBut((request) =>
        isForgery(request) && request.headers['x-signature'] !== hmac(request.body)
          ? { status: 502, headers: { Server: 'nginx' }, body: '<html><h1>502 Bad Gateway' }
          : undefined,
      ),
    cause: 'a proxy (nginx) responded in place of the application',
    fix: 'check that the application runs (look into its log), and where the proxy forwards to',
    never: ['uncaught error of the comparison'],
  },
];

function parsed(body: Buffer): unknown {
  return isJson(body) ? JSON.parse(body.toString()) : undefined;
}

/** Receivers of 5 to 30 lines, each with one planted fault that `hooks test` must name. */
export const FAULTY_RECEIVERS: AnswerTheme = {
  title: 'hooks test: what is wrong with the receiver',
  cases: RECEIVERS.map(({ id, receiver, secret = SECRET, flags = [], ...answers }) => ({
    id: `receiver-${id}`,
    ...answers,
    // A receiver may remember what it saw, so that each run has its own.
    given: { receiver: receiver(), ...(secret !== '' && { env: { HOOKS_SECRET: secret } }) },
    argv: ['test', '{url}', ...flags],
  })),
};
