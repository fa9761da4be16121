import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examineFailure } from '../../../src/diagnosis/explain.ts';
import { listening } from '../../answers/counterparts.ts';
import { makeCertificates } from '../../certificates.ts';
import { collectGarbage } from '../../collect-garbage.ts';

const HELLO = 0x16;

/** Calls `answer` with the first bytes of each connection. Returns the port. */
async function answering(answer: (socket: Socket, isHello: boolean) => void, greeting = ''): Promise<number> {
  const server = createServer((socket) => {
    if (greeting !== '') socket.write(greeting);
    socket.once('data', (bytes: Buffer) => answer(socket, bytes[0] === HELLO));
  });
  const { port, close } = await listening(server);
  onTestFinished(close);
  return port;
}

function examine(url: string, timeoutMs = 3_000, error = 'timeout'): ReturnType<typeof examineFailure> {
  const { signal } = new AbortController();
  return examineFailure({ url, error, env: {}, signal, timeoutMs });
}

/** As http.server of Python: without a status line to what it cannot read. */
function asPython(socket: Socket, isHello: boolean): void {
  socket.end(isHello ? '<!DOCTYPE HTML>\n<title>Error</title>' : 'HTTP/1.0 501 Unsupported method\r\n\r\n');
}

describe('a port that responds to a TLS hello in clear text', () => {
  it('speaks HTTP when it responds to an HTTP request', async () => {
    const port = await answering(asPython);
    expect(await examine(`http://127.0.0.1:${port}/`, 3_000, 'protocol')).toBeUndefined();
    expect(await examine(`https://127.0.0.1:${port}/`)).toMatchObject({ cause: 'speaks-http' });
  });

  it.each<[string, (socket: Socket, isHello: boolean) => void, string?]>([
    ['Redis', (socket) => socket.end('-ERR unknown command\r\n')],
    ['Redis, which hangs up on HTTP', (socket, isHello) => socket.end(isHello ? '-ERR wrong\r\n' : '')],
    ['SSH', (socket) => socket.end(), 'SSH-2.0-OpenSSH_9.6\r\n'],
  ])(
    'speaks another protocol when it does not respond to an HTTP request: %s',
    async (_what, answer, greeting) => {
      const port = await answering(answer, greeting);
      expect(await examine(`http://127.0.0.1:${port}/`)).toMatchObject({ cause: 'speaks-other' });
      expect(await examine(`https://127.0.0.1:${port}/`)).toMatchObject({ cause: 'speaks-other' });
    },
  );

  it.each<[cause: string, responds: boolean]>([
    ['handler-silent', true],
    ['port-silent', false],
  ])(
    'that gave a message no response is asked whether it responds to OPTIONS: %s',
    async (cause, responds) => {
      const port = await answering((socket, isHello) => (isHello || responds) && asPython(socket, isHello));
      expect(await examine(`http://127.0.0.1:${port}/`, 300)).toMatchObject({ cause });
    },
  );
});

it.each([
  ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n', 'SSH-2.0-OpenSSH_9.6'],
  ['SMTP', '220 mail.example ESMTP Postfix\r\n', '220 mail.example ESMTP Postfix'],
  ['MySQL', Buffer.from('4a0000000a382e302e333600', 'hex').toString('latin1'), '8.0.36'],
])('quotes the greeting of another protocol: %s', async (_what, greeting, words) => {
  const port = await answering(() => {}, greeting);
  const shown = { words: `another protocol, not HTTP: "${words}"` };
  expect(await examine(`http://127.0.0.1:${port}/`)).toEqual({ cause: 'speaks-other', shown });
});

it('cuts a greeting, and does not print its control characters', async () => {
  const port = await answering(() => {}, `\u001b[31mhello ${'x'.repeat(500)}`);
  const { shown: { words = '' } = {} } = (await examine(`http://127.0.0.1:${port}/`)) ?? {};
  expect(words).toContain('hello xxx');
  expect(words).not.toContain('\u001b');
  expect(words.length).toBeLessThan(100);
});

function through(port: number, scheme = 'http', error = 'refused'): ReturnType<typeof examineFailure> {
  const env = { https_proxy: `${scheme}://127.0.0.1:${port}` };
  const { signal } = new AbortController();
  const url = 'https://receiver.example/hook';
  return examineFailure({ url, error, cause: 'proxy-forbids', env, signal });
}

describe('a proxy', () => {
  it('that rejects CONNECT as a web server does is no proxy', async () => {
    const port = await answering((socket) => socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n'));
    expect(await through(port)).toEqual({
      cause: 'no-proxy',
      shown: { tunnel: 'responded with 405 to' },
      proxy: 'https_proxy',
    });
  });

  it('that rejects CONNECT with 403 is a proxy', async () => {
    const port = await answering((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    expect(await through(port)).toEqual({ cause: 'proxy-forbids', proxy: 'https_proxy' });
  });

  it('with the wrong protocol in its variable gets the right one', async () => {
    const port = await answering((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await through(port, 'https', 'tls')).toMatchObject({
      cause: 'proxy-scheme',
      shown: { words: 'HTTP', otherScheme: `http://127.0.0.1:${port}/` },
    });
  });
});

it('keeps a cause that leaves nothing to examine', async () => {
  const port = await answering((socket) => socket.end(), 'SSH-2.0-OpenSSH_9.6\r\n');
  const { signal } = new AbortController();
  const failure = { url: `http://127.0.0.1:${port}/`, error: 'protocol', env: {}, signal };
  expect(await examineFailure({ ...failure, cause: 'malformed-http' })).toBeUndefined();
});

it('names TLS only for http://', async () => {
  const made = await makeCertificates();
  onTestFinished(() => made.remove());
  const { keyFile, certFile } = made.good;
  const server = createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) });
  const { port, close } = await listening(server);
  onTestFinished(close);
  expect(await examine(`http://127.0.0.1:${port}/`)).toMatchObject({ cause: 'speaks-tls' });
  expect(await examine(`https://127.0.0.1:${port}/`, 3_000, 'protocol')).toBeUndefined();
});

it('examines what else listens only after a connection that was really refused', async () => {
  const { signal } = new AbortController();
  const failure = { url: 'http://127.0.0.1:1/', error: 'refused', env: {}, signal };
  expect(await examineFailure(failure)).toMatchObject({ cause: 'nothing-listens' });
  for (const cause of ['unreachable', 'not-allowed', 'no-network']) {
    expect(await examineFailure({ ...failure, cause })).toBeUndefined();
  }
});

it('ends in time at a port that is silent, also after a garbage collection', async () => {
  const port = await answering(() => {});
  const examined = examine(`https://127.0.0.1:${port}/`, 300);
  const collecting = setInterval(collectGarbage, 20);
  onTestFinished(() => clearInterval(collecting));
  expect(await examined).toMatchObject({ cause: 'port-silent' });
});

it('blames the program for a connection that a loopback port does not accept in time', async () => {
  const { signal } = new AbortController();
  const failure = { error: 'timeout', cause: 'no-connection-in-time', env: {}, signal };
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    expect(await examineFailure({ ...failure, url: `http://${host}:1/` })).toEqual({
      cause: 'not-accepting',
    });
  }
});

it.each(['http', 'https'])('knows a port that closes each connection at once: %s', async (scheme) => {
  const server = createServer((socket) => socket.end());
  const { port, close } = await listening(server);
  onTestFinished(close);
  const { signal } = new AbortController();
  const failure = { url: `${scheme}://127.0.0.1:${port}/`, error: 'reset', env: {}, signal };
  expect(await examineFailure(failure)).toMatchObject({ cause: 'silent' });
});
