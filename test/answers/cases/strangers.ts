import { createServer as createHttp2 } from 'node:http2';
import { createServer } from 'node:net';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { listening, responds, rightBut, SECRET, startHttp, type Respond } from '../counterparts.ts';
import type { Scene, Values } from '../scene.ts';
import { both, CORRECT_ONES, SEND, sendUntilTaken, WITH_PROBES, type RespondingCase } from './sending.ts';

const SAME_SECRET = 'same secret';

/** Refusals of frameworks, as their own code words them. */
const REFUSALS: readonly RespondingCase[] = [
  {
    id: 'unknown-field-jackson',
    title: 'Jackson, Go, Nest or Pydantic reject fields that they do not know',
    maxRequests: CORRECT_ONES,
    status: 400,
    body: '{"status":400,"error":"Bad Request","message":"JSON parse error: Unrecognized field \\"version\\""}',
    cause: 'JSON parse error: Unrecognized field "version"',
    fix: 'accept the fields of every message type, as hooks send TYPE --dry-run',
    never: [SAME_SECRET, 'does not accept the body as JSON'],
  },
  {
    id: 'field-type-go',
    title: 'a struct of Go has another type for a field',
    maxRequests: CORRECT_ONES,
    status: 400,
    body: 'json: cannot unmarshal object into Go struct field Event.properties of type string',
    cause: 'json: cannot unmarshal object into Go struct field Event.properties of',
    fix: 'properties and traits may be any JSON',
    never: [SAME_SECRET, 'does not accept the body as JSON'],
  },
  {
    id: 'cors-express',
    title: 'a CORS rule of Express wants an Origin',
    maxRequests: WITH_PROBES,
    status: 403,
    body: '{"error":"Not allowed by CORS"}',
    cause: 'Not allowed by CORS',
    fix: 'find these words in the receiver or in the proxy in front of it',
    never: [SAME_SECRET],
  },
  {
    id: 'refused-spring',
    title: 'Spring Security refuses a POST without giving a reason',
    maxRequests: WITH_PROBES,
    status: 403,
    body: '{"timestamp":"2026-11-20T21:10:05.123+00:00","status":403,"error":"Forbidden","path":"/hook"}',
    cause: 'the framework rejects the request by its own rules (permissions, CSRF',
    fix: 'csrf(c -> c.ignoringRequestMatchers("/hook")) and authorizeHttpRequests',
  },
  {
    id: 'parameter-missing-rails',
    title: 'params.require of Rails misses a parameter',
    maxRequests: CORRECT_ONES,
    status: 400,
    body: '{"status":400,"error":"Bad Request","exception":"#<ActionController::ParameterMissing: param is missing or the value is empty: event>"}',
    cause: 'param is missing or the value is empty: event',
    fix: 'accept the fields of every message type',
    never: [SAME_SECRET],
  },
  {
    id: 'php-fatal-error',
    title: 'PHP ends with a fatal error that is no exception',
    status: 500,
    body: 'PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes)',
    cause: 'PHP Fatal error: Allowed memory size of 134217728 bytes exhausted (tried',
    fix: 'repair this in the receiver, or in what it depends on',
  },
  {
    id: 'python-none-encode',
    title: 'Python calls a method of None: a header or secret that is not there',
    status: 500,
    body: "AttributeError: 'NoneType' object has no attribute 'encode'",
    cause: "AttributeError: 'NoneType' object has no attribute 'encode'",
    fix: 'treat each field as optional (properties, traits and userId may be',
    never: ['express.json()'],
  },
  {
    id: 'django-long-page',
    title: 'a debug page of Django, longer than what is read of it',
    status: 500,
    body: `<!DOCTYPE html>\n<html lang="en"><head><title>KeyError\n          at /hook</title><style>${'html * { padding:0; margin:0; } '.repeat(400)}</style></head><body><pre class="exception_value">&#x27;email&#x27;</pre></body></html>`,
    cause: "KeyError at /hook: 'email'",
    fix: 'treat each field as optional (properties, traits and userId may be',
    never: ['express.json()'],
  },
  {
    id: 'error-description',
    title: 'the reason stands in error_description',
    maxRequests: WITH_PROBES,
    status: 400,
    body: '{"error":"invalid_request","error_description":"The event name is not registered"}',
    cause: 'The event name is not registered',
    fix: 'find these words in the receiver or in the proxy in front of it',
  },
];

/** The text of Flask for every 401, which says nothing about a token. */
const FLASK_401 =
  "<!doctype html>\n<html lang=en>\n<title>401 Unauthorized</title>\n<h1>Unauthorized</h1>\n<p>The server could not verify that you are authorized to access the URL requested. You either supplied the wrong credentials (e.g. a bad password), or your browser doesn't understand how to supply the credentials required.</p>";

async function http2Only({ onEnd }: Scene): Promise<Values> {
  const server = createHttp2((_request, response) => response.end('ok'));
  const { port, close } = await listening(server);
  onEnd(close);
  return { port };
}

/** Sends its bytes one by one, and never comes to an end. */
function dripping(beginning: string) {
  return async ({ onEnd }: Scene): Promise<Values> => {
    const server = createServer((socket) => {
      socket.write(beginning);
      const timer = setInterval(() => socket.write('a'), 30);
      socket.once('close', () => clearInterval(timer));
    });
    const { port, close } = await listening(server);
    onEnd(close);
    return { port };
  };
}

const H2C_FIX = 'let the server speak HTTP/1.1 at this port';
const to = (url: string): string[] => SEND.map((word) => (word === '{url}' ? url : word));

/** A free port, at which a sender waits for `hooks listen` and sends it one message. */
function sentToListener(forward: Respond | undefined) {
  return async ({ onEnd }: Scene): Promise<Values> => {
    const target = await startHttp(forward ?? responds(200));
    const url = `http://127.0.0.1:${target.port}/hook`;
    if (forward === undefined) await target.close();
    else onEnd(target.close);
    const free = await listening(createServer());
    await free.close();
    sendUntilTaken(`http://127.0.0.1:${free.port}/`, { onEnd });
    return { url, own: free.port };
  };
}

const FORWARD = ['listen', '--port', '{own}', '--forward', '{url}', '--within', '60s', '--count', '1'];

const FORWARDED: readonly (Pick<AnswerCase, 'id' | 'title' | 'cause' | 'fix'> & {
  readonly receiver?: Respond;
})[] = [
  {
    id: 'refused',
    title: 'nothing listens there',
    cause: 'the connection was refused',
    fix: 'start the receiver, wait until it listens',
  },
  {
    id: 'csrf',
    title: 'Django wants a CSRF token',
    receiver: responds(403, 'CSRF verification failed. Request aborted.'),
    cause: 'the framework wants a CSRF token, which only forms on its own pages have',
    fix: 'Django @csrf_exempt',
  },
  {
    id: 'own-words',
    title: 'the receiver says why it rejects',
    receiver: responds(400, '{"message":"wrong workspace"}'),
    cause: 'wrong workspace',
    fix: 'find these words in the receiver or in the proxy in front of it',
  },
  {
    id: 'bad-gateway',
    title: 'the application behind the proxy does not run',
    receiver: responds(502, '<html><h1>502 Bad Gateway', { Server: 'nginx' }),
    cause: 'a proxy (nginx) responded in place of the application',
    fix: 'check that the application runs (look into its log)',
  },
];

/** Mistakes that other people made. */
export const STRANGERS: AnswerTheme = {
  title: 'Frameworks that refuse, timeouts, protocols and flags',
  cases: [
    ...REFUSALS.flatMap(both),
    {
      id: 'flask-401',
      title: 'a receiver in Flask hashes json.dumps of the parsed body, and aborts with 401',
      given: {
        receiver: rightBut(
          (_request, isValid) => (isValid ? undefined : { status: 401, body: FLASK_401 }),
          'x',
        ),
      },
      argv: ['test', '{url}', '--secret', SECRET],
      cause: 'it rejects correct and forged messages alike with 401',
      fix: "look into the receiver's log for this request: if its handler does not run",
      never: ['wants a token'],
    },
    {
      id: 'signature-not-looked-at',
      title: 'the receiver only looks whether there is a signature',
      given: {
        receiver: rightBut(({ headers, body }) =>
          headers['x-signature'] !== undefined && body.toString().endsWith('}') ? {} : undefined,
        ),
      },
      argv: ['test', '{url}', '--secret', SECRET],
      cause: 'it lets forgers in: it accepts messages without a signature, or with a wrong one',
      fix: 'compute the HMAC-SHA1 of the raw body in hex, compare it with X-Signature',
      never: ['a part of the signature is enough', 'passes for another'],
    },
    ...(['http', 'https'] as const).map((protocol): AnswerCase => ({
      id: `http2-only-${protocol}`,
      title: 'the port speaks HTTP/2 without TLS (h2c, gRPC)',
      given: { start: http2Only },
      argv: to(`${protocol}://127.0.0.1:{port}/`),
      cause: 'the port speaks HTTP/2 without TLS only (h2c, as gRPC does)',
      fix: H2C_FIX,
      never: ['another protocol'],
    })),
    {
      id: 'test-http2-only',
      title: 'hooks test of a port that speaks HTTP/2 without TLS',
      given: { start: http2Only },
      argv: ['test', 'http://127.0.0.1:{port}/', '--secret', SECRET],
      cause: 'the port speaks HTTP/2 without TLS only (h2c, as gRPC does)',
      fix: H2C_FIX,
    },
    {
      id: 'headers-drip',
      title: 'the headers of the response come byte by byte',
      given: { start: dripping('HTTP/1.1 200 OK\r\nX-A: ') },
      argv: [...to('http://127.0.0.1:{port}/'), '--timeout', '300ms'],
      cause: 'it began its response, but did not end the headers in time',
      fix: 'let the receiver send status and headers at once',
    },
    {
      id: 'body-drip',
      title: 'hooks test: the body of the response never ends',
      given: { start: dripping('HTTP/1.1 400 Bad Request\r\nContent-Length: 9999\r\n\r\nwrong workspace\n') },
      argv: ['test', 'http://127.0.0.1:{port}/', '--timeout', '300ms', '--only', 'track', '--secret', SECRET],
      cause: 'the response says: "wrong workspace',
      fix: 'find these words in the receiver or in the proxy in front of it',
    },
    {
      id: 'status-never',
      title: 'the receiver takes the request and never responds',
      given: { receiver: () => 'hang' },
      argv: [...SEND, '--timeout', '200ms'],
      cause: 'the port accepts connections, but not even OPTIONS gets a response in time',
      fix: 'works long on each request (let it respond first and work later), never ends its responses, or hangs',
    },
    ...FORWARDED.map(({ id, title, receiver, cause, fix }): AnswerCase => ({
      id: `forward-${id}`,
      title: `listen --forward: ${title}`,
      given: { start: sentToListener(receiver) },
      argv: FORWARD,
      cause,
      fix,
      exitCode: 0,
    })),
    {
      id: 'encoded-list',
      title: 'a list of messages, of which each is a text (encoded twice)',
      given: { files: { 'day.json': JSON.stringify([JSON.stringify({ type: 'delete', userId: 'u' })]) } },
      argv: ['replay', 'day.json', '--url', 'http://127.0.0.1:9/'],
      cause: 'the input is a list of strings that contain JSON: each was encoded twice',
      fix: "jq -c '.[] | fromjson' FILE | hooks replay -",
      never: ['is it cut off'],
    },
    {
      id: 'port-too-high',
      title: 'a port above 65535',
      argv: to('http://127.0.0.1:99999/'),
      cause: 'Expected `--url` to be a URL, got http://127.0.0.1:99999/',
      fix: 'give a port from 1 to 65535',
      never: ['write it in full'],
      exitCode: 2,
    },
    {
      id: 'properties-words',
      title: '--properties a=1 instead of --property a=1',
      argv: [...to('http://127.0.0.1:9/'), '--properties', 'a=1'],
      cause: 'Expected `--properties` to be a JSON object, got words with an equals sign',
      fix: 'give them one by one with --property NAME=VALUE',
      exitCode: 2,
    },
    ...(
      [
        ['track', '--name', 'A', 'name what happened with --event'],
        ['page', '--event', 'A', 'name the page with --name'],
        ['identify', '--properties', '{}', 'set traits of the user with --traits'],
        ['track', '--traits', '{}', 'set data of the event with --properties'],
      ] as const
    ).map(([type, flag, value, fix]): AnswerCase => ({
      id: `${type}-${flag.slice(2)}`,
      title: `${flag} with ${type}`,
      argv: ['send', type, '--user-id', 'u', flag, value, '--url', 'http://127.0.0.1:9/'],
      cause: `\`${flag}\` is for`,
      fix,
      never: ['leave it out'],
      exitCode: 2,
    })),
  ],
};
