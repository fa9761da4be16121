import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * The protocol that a port speaks. `tls-with-client-certificate`: TLS, and the server requests a client certificate.
 * `nothing`: the port closed the connection without sending a byte. `undecided`: no byte arrived in time.
 */
export type PortSpeech =
  'tls' | 'tls-with-client-certificate' | 'http' | 'http2' | 'other' | 'nothing' | 'undecided';

export interface AskedPort {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Number of bytes, at the beginning of the data from the server, in which `HTTP/` is expected. */
const GREETING_BYTES = 64;

/**
 * Asks with a TLS 1.2 handshake, which is not encrypted, so that a request for a client certificate can be read. Sends
 * nothing after the handshake, so the server's certificate is not verified. Resolves to `nothing` if the connection fails.
 */
export function askInTls(asked: AskedPort): Promise<PortSpeech> {
  return new Promise((resolve) => {
    const socket = connectTo(asked, resolve);
    let bytes = Buffer.alloc(0);
    const below = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    });
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      below.push(chunk);
      if (!isTlsRecord(bytes)) return settle(socket, resolve, speechOf(bytes));
      const types = messageTypes(bytes);
      if (types.includes(CERTIFICATE_REQUEST)) return settle(socket, resolve, 'tls-with-client-certificate');
      if (bytes[0] === ALERT || types.includes(SERVER_HELLO_DONE)) settle(socket, resolve, 'tls');
    });
    socket.once('close', () => {
      settle(socket, resolve, bytes.length > 0 && isTlsRecord(bytes) ? 'tls' : 'nothing');
      below.destroy();
    });
    const servername = isIP(asked.host) === 0 ? asked.host : '';
    const { connect: connectTls } = process.getBuiltinModule('node:tls');
    connectTls({ socket: below, servername, maxVersion: 'TLSv1.2', rejectUnauthorized: false }).on(
      'error',
      () => {},
    );
  });
}

/** Asks with an HTTP request that has no effect: `OPTIONS *` changes no state of any server (RFC 9110, 9.3.7). */
export function askInHttp(asked: AskedPort): Promise<PortSpeech> {
  return new Promise((resolve) => {
    const socket = connectTo(asked, resolve);
    socket.once('data', (chunk: Buffer) =>
      settle(socket, resolve, isTlsRecord(chunk) ? 'tls' : speechOf(chunk)),
    );
    socket.once('close', () => settle(socket, resolve, 'nothing'));
    socket.write('OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  });
}

/** Whether a port accepts a connection. */
export function takesConnections(asked: AskedPort): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTo(asked, () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('close', () => resolve(false));
  });
}

function connectTo(
  { host, port, timeoutMs, signal }: AskedPort,
  resolve: (speech: PortSpeech) => void,
): Socket {
  const socket = connect({ host, port });
  const timer = setTimeout(() => settle(socket, resolve, 'undecided'), timeoutMs);
  const abort = (): void => settle(socket, resolve, 'nothing');
  signal?.addEventListener('abort', abort);
  socket
    .on('error', () => {})
    .once('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    });
  return socket;
}

function settle(socket: Socket, resolve: (speech: PortSpeech) => void, speech: PortSpeech): void {
  resolve(speech);
  socket.destroy();
}

const ALERT = 0x15;
const HANDSHAKE = 0x16;
const CERTIFICATE_REQUEST = 13;
const SERVER_HELLO_DONE = 14;

function isTlsRecord(bytes: Buffer): boolean {
  const [type, major] = [bytes[0], bytes[1]];
  return (type === ALERT || type === HANDSHAKE) && (major === undefined || major === 3);
}

/** Returns the types of the complete handshake messages. Messages can share records or span several (RFC 5246, 6.2). */
function messageTypes(bytes: Buffer): number[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length && bytes[at] === HANDSHAKE;) {
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    pieces.push(bytes.subarray(at + 5, end));
    at = end;
  }
  const messages = Buffer.concat(pieces);
  const types: number[] = [];
  for (let at = 0; at + 4 <= messages.length; at += 4 + messages.readUIntBE(at + 1, 3)) {
    types.push(messages[at] ?? 0);
  }
  return types;
}

function speechOf(bytes: Buffer): PortSpeech {
  if (isSettingsFrame(bytes)) return 'http2';
  return bytes.subarray(0, GREETING_BYTES).toString('latin1').startsWith('HTTP/') ? 'http' : 'other';
}

const SETTINGS = 4;

/**
 * Whether the bytes are the SETTINGS frame of an HTTP/2 server without TLS: its first frame, on stream 0 (RFC 9113, 3.4 and
 * 4.1).
 */
function isSettingsFrame(bytes: Buffer): boolean {
  return bytes.length >= 9 && bytes[0] === 0 && bytes[3] === SETTINGS && bytes.readUInt32BE(5) === 0;
}
