import * as net from 'node:net';
import { listen, receiver, type HostileReceiver, type ReceiverOptions } from './raw-receiver.ts';

export { receiver } from './raw-receiver.ts';
export type { Answering, HostileReceiver, ReceivedRequest, ReceiverOptions } from './raw-receiver.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

export function answersOk(options?: ReceiverOptions): Promise<HostileReceiver> {
  return receiver((socket) => socket.write(OK), options);
}

export interface AnswerOptions extends ReceiverOptions {
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

/** Responds with this status, and with a Content-Length unless the status allows no body. */
export function answers(status: number, options: AnswerOptions = {}): Promise<HostileReceiver> {
  const body = Buffer.from(options.body ?? '');
  const length = status === 204 || status === 304 ? [] : [`Content-Length: ${body.length}`];
  const head = [`HTTP/1.1 ${status} Whatever`, ...length, ...(options.headers ?? []), '', ''].join('\r\n');
  return receiver((socket) => socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body])), options);
}

/** Responds with these exact bytes, and keeps the connection open. */
export function answersBytes(bytes: string, options?: ReceiverOptions): Promise<HostileReceiver> {
  return receiver((socket) => socket.write(bytes, 'latin1'), options);
}

export function neverAnswers(options?: ReceiverOptions): Promise<HostileReceiver> {
  return receiver(() => {}, options);
}

/** Responds to the first request only. */
export function answersOnlyOnce(): Promise<HostileReceiver> {
  let answered = false;
  return receiver((socket) => {
    if (!answered) socket.write(OK);
    answered = true;
  });
}

/** Accepts connections, and never sends a byte, not even in a TLS handshake. */
export function neverSpeaks(): Promise<HostileReceiver> {
  return listen(
    net.createServer((socket) => socket.resume()),
    { host: '127.0.0.1' },
    'https',
    () => {},
  );
}

/** Has an https: URL, but responds to everything in plain HTTP, also to a TLS handshake. */
export function speaksHttpToAnybody(): Promise<HostileReceiver> {
  const server = net.createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'));
  });
  return listen(server, { host: '127.0.0.1' }, 'https', () => {});
}

/** Sends a status line, then endlessly a byte of a header every few milliseconds. */
export function dripsHeaders(): Promise<HostileReceiver> {
  return receiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Drip: ');
    drip(socket, () => 'a');
  });
}

/** Sends complete headers, then endlessly a byte of the body every few milliseconds. */
export function dripsBody(status = 200): Promise<HostileReceiver> {
  return receiver((socket) => {
    socket.write(`HTTP/1.1 ${status} Whatever\r\nTransfer-Encoding: chunked\r\n\r\n`);
    drip(socket, () => '1\r\na\r\n');
  });
}

const PIECE = Buffer.alloc(16 * 1024, 'a');

/** Sends an endless body as fast as it is read. */
export function endlessBody(status = 200): Promise<HostileReceiver> {
  const chunk = Buffer.concat([Buffer.from('4000\r\n'), PIECE, Buffer.from('\r\n')]);
  return pours(`HTTP/1.1 ${status} Whatever\r\nTransfer-Encoding: chunked\r\n\r\n`, Infinity, chunk);
}

/** Sends 300 MB that claim to be gzip, which decoding would turn into far more. */
export function hugeBody(bytes = 300_000_000, status = 200): Promise<HostileReceiver> {
  return pours(
    `HTTP/1.1 ${status} Whatever\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes}\r\n\r\n`,
    bytes,
    PIECE,
  );
}

export function hugeHeaders(bytes = 40_000): Promise<HostileReceiver> {
  const header = `X-Big: ${'a'.repeat(1000)}\r\n`;
  return answersBytes(`HTTP/1.1 200 OK\r\n${header.repeat(Math.ceil(bytes / header.length))}\r\n`);
}

/** Sends endless interim responses, by default `103 Early Hints`. */
export function endlessInterim(status = 103): Promise<HostileReceiver> {
  return receiver((socket) => drip(socket, () => `HTTP/1.1 ${status} Wait\r\nX-N: 1\r\n\r\n`));
}

/** Reads the request, sends `after`, and closes the connection, with `reset` by a RST. */
export function closesBeforeAnswer({ reset = false, after = '' } = {}): Promise<HostileReceiver> {
  return receiver((socket) => closeAfter(socket, after, reset));
}

/** Responds to every request, then closes the connection without announcing it. */
export function closesIdle(options?: ReceiverOptions): Promise<HostileReceiver> {
  return receiver((socket) => socket.end(OK, () => socket.destroy()), options);
}

/**
 * Responds to the first request of a connection. After the second request it sends `after` and closes the connection,
 * like a receiver that closes an idle connection while a request is on its way.
 */
export function diesWhenReused({
  reset = false,
  after = '',
  ...options
}: ReceiverOptions & { readonly reset?: boolean; readonly after?: string } = {}): Promise<HostileReceiver> {
  const served = new WeakSet<net.Socket>();
  return receiver((socket) => {
    if (served.has(socket)) return closeAfter(socket, after, reset);
    served.add(socket);
    socket.write(OK);
  }, options);
}

function closeAfter(socket: net.Socket, words: string, reset: boolean): void {
  if (reset) socket.resetAndDestroy();
  else socket.end(words);
}

const DRIP_MS = 5;

function drip(socket: net.Socket, next: () => string): void {
  const timer = setInterval(() => socket.write(next()), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** Sends `head`, then endlessly the same words, as fast as they are read. */
export function endless(head: string, words: string): Promise<HostileReceiver> {
  return pours(head, Infinity, Buffer.from(words.repeat(Math.ceil(16_384 / words.length))));
}

/** Sends `head` and this many bytes, only as fast as the client reads. */
function pours(head: string, bytes: number, chunk: Buffer): Promise<HostileReceiver> {
  return receiver((socket) => {
    let left = bytes;
    const pour = (): void => {
      while (left > 0 && !socket.destroyed) {
        left -= chunk.length;
        if (!socket.write(left < 0 ? chunk.subarray(0, left) : chunk)) return;
      }
    };
    socket.write(head);
    socket.on('drain', pour);
    pour();
  });
}
