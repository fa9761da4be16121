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

/** A proper answer: its length is set here, unless there can be no body. */
export function answers(status: number, options: AnswerOptions = {}): Promise<HostileReceiver> {
  const body = Buffer.from(options.body ?? '');
  const length = status === 204 || status === 304 ? [] : [`Content-Length: ${body.length}`];
  const head = [`HTTP/1.1 ${status} Whatever`, ...length, ...(options.headers ?? []), '', ''].join('\r\n');
  return receiver((socket) => socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body])), options);
}

/** These exact bytes, and nothing more; the connection stays open. */
export function answersBytes(bytes: string, options?: ReceiverOptions): Promise<HostileReceiver> {
  return receiver((socket) => socket.write(bytes, 'latin1'), options);
}

export function neverAnswers(options?: ReceiverOptions): Promise<HostileReceiver> {
  return receiver(() => {}, options);
}

/** Answers the first request of all, and no other. */
export function answersOnlyOnce(): Promise<HostileReceiver> {
  let answered = false;
  return receiver((socket) => {
    if (!answered) socket.write(OK);
    answered = true;
  });
}

/** Takes the connection, and says nothing to a TLS handshake either. */
export function neverSpeaks(): Promise<HostileReceiver> {
  return listen(
    net.createServer((socket) => socket.resume()),
    { host: '127.0.0.1' },
    'https',
    () => {},
  );
}

/** Given as https:, but answers whatever comes, a TLS handshake too, in plain HTTP. */
export function speaksHttpToAnybody(): Promise<HostileReceiver> {
  const server = net.createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'));
  });
  return listen(server, { host: '127.0.0.1' }, 'https', () => {});
}

/** A status line, then a byte of a header every few milliseconds, for ever. */
export function dripsHeaders(): Promise<HostileReceiver> {
  return receiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Drip: ');
    drip(socket, () => 'a');
  });
}

/** Whole headers at once, then a byte of the body every few milliseconds, for ever. */
export function dripsBody(status = 200): Promise<HostileReceiver> {
  return receiver((socket) => {
    socket.write(`HTTP/1.1 ${status} Whatever\r\nTransfer-Encoding: chunked\r\n\r\n`);
    drip(socket, () => '1\r\na\r\n');
  });
}

const PIECE = Buffer.alloc(16 * 1024, 'a');

/** A body as fast as it is read, for ever. */
export function endlessBody(status = 200): Promise<HostileReceiver> {
  const chunk = Buffer.concat([Buffer.from('4000\r\n'), PIECE, Buffer.from('\r\n')]);
  return pours(`HTTP/1.1 ${status} Whatever\r\nTransfer-Encoding: chunked\r\n\r\n`, Infinity, chunk);
}

/** 300 MB that claim to be gzip: what decoding would turn into far more. */
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

/** Interim answers (`103 Early Hints`, or whatever status is given), for ever. */
export function endlessInterim(status = 103): Promise<HostileReceiver> {
  return receiver((socket) => drip(socket, () => `HTTP/1.1 ${status} Wait\r\nX-N: 1\r\n\r\n`));
}

/** Reads the request, then closes; with `reset` by a RST. `after` is what it says first. */
export function closesBeforeAnswer({ reset = false, after = '' } = {}): Promise<HostileReceiver> {
  return receiver((socket) => closeAfter(socket, after, reset));
}

/** Answers every request, then closes the connection, of which the answer said nothing. */
export function closesIdle(): Promise<HostileReceiver> {
  return receiver((socket) => socket.end(OK, () => socket.destroy()));
}

/**
 * Answers the first request of a connection. The second it reads and closes without a response, or says `after` first: what a
 * client sees whose request crosses the closing of an idle connection.
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

/** The same words again and again after the beginning, as fast as they are read. */
export function endless(head: string, words: string): Promise<HostileReceiver> {
  return pours(head, Infinity, Buffer.from(words.repeat(Math.ceil(16_384 / words.length))));
}

/** Writes only as fast as the other side reads. */
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
