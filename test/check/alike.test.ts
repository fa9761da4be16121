import { expect, it, onTestFinished } from 'vitest';
import {
  hmac,
  isJson,
  responds,
  rightBut,
  SECRET,
  startHttp,
  type Respond,
} from '../answers/counterparts.ts';
import { hooks } from '../cli/run-in-process.ts';

/** The output of `hooks test` for a receiver. */
async function testOf(receiver: Respond, ...flags: readonly string[]): Promise<string> {
  const { port, close } = await startHttp(receiver);
  onTestFinished(close);
  const { stdout } = await hooks(['test', `http://127.0.0.1:${port}/hook`, '--secret', SECRET, ...flags]);
  return stdout;
}

const signatureOf = ({ headers }: Parameters<Respond>[0]): string => String(headers['x-signature'] ?? '');

it('does not blame the signature if correct and forged messages get the same rejection', async () => {
  const out = await testOf(() => ({ status: 403, headers: { Server: 'AirTunes/775.3.1' } }));
  expect(out).toContain('wrong: probably it rejects correct and forged messages alike with 403');
  expect(out).toContain("fix:   look into the receiver's log for this request: if its handler does not run");
  expect(out).toContain('the response names AirTunes/775.3.1 as its server');
});

it('keeps to the signature if the words of the rejection name it', async () => {
  const out = await testOf(rightBut(undefined, 'another secret'));
  expect(out).toContain('alike with 401, and blames the signature');
  expect(out).toContain('what remains: a different secret, header or hash, other bytes');
  expect(out).not.toContain('a layer in front');
});

const hashesNothing: Respond = (request) =>
  signatureOf(request) === hmac('') ? { status: 400, body: 'no event' } : { status: 401 };

it('finds a mistake by a request that passes the verification and fails later', async () => {
  const out = await testOf(hashesNothing);
  expect(out).toContain('it hashes other bytes than the body: it accepts what is signed');
  expect(out).toContain('a step after this check fails with 400');
});

it.each<[string, Respond]>([
  ['a rate limit', ({ index }) => ({ status: index < 20 ? 401 : 403 })],
  ['a busy receiver', ({ index }) => ({ status: index % 7 === 6 ? 500 : 401 })],
  [
    'a rejection by the form of the header',
    (request) => ({ status: /^[\da-f]{40}$/.test(signatureOf(request)) ? 401 : 400 }),
  ],
])('does not take %s for a passed verification', async (_, receiver) => {
  expect(await testOf(receiver)).not.toContain('it accepts what is signed');
});

it('does not say that a receiver accepts everything if forgeries get other words', async () => {
  const out = await testOf((request) => {
    const isValid = signatureOf(request) === hmac(request.body);
    const words = signatureOf(request) === '' ? 'missing signature' : 'come back with the key';
    if (!isValid) return { body: words };
    return isJson(request.body) ? { body: 'ok' } : { status: 400 };
  });
  expect(out).toContain('it rejects in words, but with status 200');
  expect(out).not.toContain('accepts everything');
});

it('says that a correct message was rejected in words with 200, and why', async () => {
  const out = await testOf((request) => ({
    body: signatureOf(request) === hmac(request.body, `${SECRET}\n`) ? 'ok' : 'signature mismatch',
  }));
  expect(out).toContain('it rejects a correct message in words: it responds with 200');
  expect(out).toContain('it accepts what is signed');
  expect(await testOf(() => ({ body: 'Unauthorized' }))).toContain(
    'it rejects correct and forged messages alike in words, but with status 200',
  );
});

it('says that Caddy responds itself to messages that no route matches', async () => {
  const out = await testOf(() => ({ headers: { Server: 'Caddy' } }));
  expect(out).toContain('Caddy itself responds with an empty 200 where no route matches');
});

const failing = (Server: string) => responds(500, '', { Server });

it('names the server only if it is not the framework of the receiver', async () => {
  expect(await testOf(failing('nginx/1.25.1\u009b'), '--only', 'track')).toContain(
    'names nginx/1.25.1\\u009b as',
  );
  expect(await testOf(failing('Werkzeug/3.0 Python/3.12'), '--only', 'track')).not.toContain(
    'names Werkzeug',
  );
});

it('does not call a route missing that may have set no response', async () => {
  expect(await testOf(() => ({ status: 404, body: 'Not Found' }))).toContain(
    'no route takes POST at /hook, or its handler sets no response',
  );
  expect(await testOf(() => ({ status: 404, body: '<pre>Cannot POST /hook</pre>' }))).toContain(
    'the response says: "Cannot POST /hook"',
  );
});

it('does not warn of a page that a receiver may send, except with -v', async () => {
  const { port, close } = await startHttp(() => ({ body: '<!doctype html><title>Thanks</title>' }));
  onTestFinished(close);
  const send = (...flags: readonly string[]) =>
    hooks([
      'send',
      'track',
      '--event',
      'A',
      '--user-id',
      'u',
      '--url',
      `http://127.0.0.1:${port}/`,
      ...flags,
    ]);
  const { stdout, stderr } = await send();
  expect(stdout + stderr).not.toMatch(/warning|page|give the URL/);
  expect((await send('-v')).stdout).toContain('perhaps: a website responded');
});

it('names the health check of a proxy that has no server available', async () => {
  const page =
    '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>';
  const out = await testOf(() => ({ status: 503, body: page }), '--only', 'track');
  expect(out).toContain('let it respond with 2xx to the health check of the proxy');
});
