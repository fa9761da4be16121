import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examineFailure } from '../../src/diagnosis/explain.ts';
import { listening } from '../answers/counterparts.ts';
import { makeCertificates } from '../certificates.ts';

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

function examine(url: string, timeoutMs = 3_000): ReturnType<typeof examineFailure> {
  const { signal } = new AbortController();
  return examineFailure({ url, error: 'timeout', env: {}, signal, timeoutMs });
}

/** As http.server of Python: without a status line to what it cannot read. */
function asPython(socket: Socket, isHello: boolean): void {
  socket.end(isHello ? '<!DOCTYPE HTML>\n<title>Error</title>' : 'HTTP/1.0 501 Unsupported method\r\n\r\n');
}

describe('a port that responds to a TLS hello in clear text', () => {
  it('speaks HTTP when it responds to an HTTP request', async () => {
    const port = await answering(asPython);
    expect(await examine(`http://127.0.0.1:${port}/`)).toBeUndefined();
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

  it('has no cause when it is too busy to respond to an HTTP request in time', async () => {
    const port = await answering((socket, isHello) => isHello && asPython(socket, isHello));
    expect(await examine(`http://127.0.0.1:${port}/`, 100)).toBeUndefined();
  });
});

it('names TLS only for http://', async () => {
  const made = await makeCertificates();
  onTestFinished(() => made.remove());
  const { keyFile, certFile } = made.good;
  const server = createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) });
  const { port, close } = await listening(server);
  onTestFinished(close);
  expect(await examine(`http://127.0.0.1:${port}/`)).toMatchObject({ cause: 'speaks-tls' });
  expect(await examine(`https://127.0.0.1:${port}/`)).toBeUndefined();
});
