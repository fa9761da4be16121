import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { Certificate } from './certificates.ts';

/** A complete request as received. */
export interface ReceivedRequest {
  /** The request line and header lines, as sent, read as latin1. */
  readonly head: readonly string[];
  readonly body: Buffer;
  /** The number of its connection, counted from 1. */
  readonly connection: number;
}

/** A real server on 127.0.0.1 that misbehaves in one way. */
export interface HostileReceiver {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Number of connections so far. */
  readonly connections: number;
  /** Number of open connections. */
  readonly openConnections: number;
  /** Bytes of responses that the sockets accepted, which shows how much the client read. */
  readonly bytesWritten: number;
  /** Closes every connection. Resolves when all are closed. */
  close(): Promise<void>;
}

/** Called with each complete request. Its timers must end when the socket closes. */
export type Answering = (socket: net.Socket, request: ReceivedRequest) => void;

export interface ReceiverOptions {
  /** The certificate, with which the receiver speaks TLS. */
  readonly certificate?: Certificate;
  /** Limits of the version of TLS. */
  readonly tls?: { readonly minVersion?: tls.SecureVersion; readonly maxVersion?: tls.SecureVersion };
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** @default a free port */
  readonly port?: number;
}

/** Starts a receiver that calls `answer` with each complete request. */
export function receiver(
  answer: Answering,
  { certificate, host = '127.0.0.1', port = 0, tls: versions }: ReceiverOptions = {},
): Promise<HostileReceiver> {
  if (!certificate) return listen(net.createServer({ noDelay: true }), { host, port }, 'http', answer);
  const [key, cert] = [readFileSync(certificate.keyFile), readFileSync(certificate.certFile)];
  return listen(tls.createServer({ key, cert, noDelay: true, ...versions }), { host, port }, 'https', answer);
}

/** Starts `server`, counts its connections, and calls `answer` with each complete request. */
export async function listen(
  server: net.Server,
  { host, port: wanted = 0 }: { readonly host: string; readonly port?: number },
  scheme: string,
  answer: Answering,
): Promise<HostileReceiver> {
  const requests: ReceivedRequest[] = [];
  const open = new Set<net.Socket>();
  let connections = 0;
  let bytesOfClosed = 0;
  // Sockets below TLS, so that a connection with a failed handshake is counted and closed, too.
  server.on('connection', (socket: net.Socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      bytesOfClosed += socket.bytesWritten;
    });
  });
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket: net.Socket) => {
    const connection = connections;
    socket.on('error', () => {});
    readRequests(socket, (head, body) => {
      // A closed connection accepts no further requests.
      if (socket.writableEnded) return;
      const request = { head, body, connection };
      requests.push(request);
      answer(socket, request);
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(wanted, host);
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo; // Not a string: it listens on a port.
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/hook`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return open.size;
    },
    get bytesWritten() {
      return [...open].reduce((sum, socket) => sum + socket.bytesWritten, bytesOfClosed);
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Reads requests with a Content-Length from a socket. */
function readRequests(socket: net.Socket, onRequest: (head: string[], body: Buffer) => void): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const headBytes = pending.indexOf('\r\n\r\n');
      if (headBytes === -1) return;
      const head = pending.toString('latin1', 0, headBytes).split('\r\n');
      const end = headBytes + 4 + contentLength(head);
      if (pending.length < end) return;
      const body = pending.subarray(headBytes + 4, end);
      pending = pending.subarray(end);
      onRequest(head, body);
    }
  });
}

function contentLength(head: readonly string[]): number {
  const line = head.find((each) => /^content-length:/i.test(each));
  return Number(line?.split(':')[1] ?? 0);
}
