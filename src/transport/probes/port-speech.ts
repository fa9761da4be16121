import { connect, isIP, type Socket } from 'node:net';
import { addAbortSignal, Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { printable } from '../../redact.ts';

/**
 * Text for what the first bytes from a port show: `tls`, `http2`, `http` with the status and the allowed methods (`http 405
 * (Allow: GET)`), or `other` with the greeting (`other SSH-2.0-OpenSSH_9.6`). `closed`: the server closed the connection
 * without sending a byte. `silent`: no byte arrived in time. `refused`: the connection failed.
 */
type PortSpeech = string;

export interface AskedPort {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether `askInHttp` uses TLS. The certificate is not verified. @default false */
  readonly isTls?: boolean;
}

/**
 * Finds out the protocol of a port: asks in TLS, then in HTTP. TLS comes first because many TLS servers respond to plain
 * HTTP with a 400 in plain HTTP. Asks in HTTP even if the response to TLS is in an unknown protocol, because Python's
 * servers respond to a TLS hello in HTTP/0.9, without a status line.
 */
export async function askPort(asked: AskedPort): Promise<PortSpeech> {
  const hello = await askInTls(asked);
  if (/^(?:tls|http|refused)/.test(hello)) return hello;
  const plain = await askInHttp({ ...asked, timeoutMs: asked.timeoutMs / 2, isTls: false });
  return hello.startsWith('other') && plain === 'closed' ? hello : plain;
}

/** Sends a request without a body: by default, one that does not change the state of a server (RFC 9110, 9.3.7). */
export function askInHttp(asked: AskedPort, line = 'OPTIONS *', host = 'localhost'): Promise<PortSpeech> {
  return ask(asked, (socket, settle) => {
    socket.once('data', (chunk: Buffer) => settle(speechOf(chunk)));
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

/** Sends a TLS hello, and reads the first bytes of the response. Does not finish the handshake. */
export function askInTls(asked: AskedPort): Promise<PortSpeech> {
  return ask({ ...asked, isTls: false }, (socket, settle) => {
    const below = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    });
    socket.once('data', (chunk: Buffer) => settle(speechOf(chunk))).once('close', () => below.destroy());
    const servername = isIP(asked.host) === 0 ? asked.host : '';
    connectTls({ socket: below, servername, rejectUnauthorized: false }).on('error', () => {});
  });
}

/** Opens a connection for one question. Closes the connection after `settle`, when the time is up, or on abort. */
function ask(
  { host, port, timeoutMs, signal, isTls = false }: AskedPort,
  question: (socket: Socket, settle: (speech: PortSpeech) => void) => void,
): Promise<PortSpeech> {
  return new Promise((resolve) => {
    const to = { host, port, ...(isTls && { rejectUnauthorized: false }) };
    const socket = addAbortSignal(signal, isTls ? connectTls(to) : connect(to));
    // Uses a timer: Node 20 can garbage-collect an AbortSignal.any with a timeout before the time is up.
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      socket.destroy();
    }, timeoutMs);
    const settle = (speech: PortSpeech): void => {
      resolve(speech);
      socket.destroy();
    };
    let isOpen = false;
    socket.on('error', () => {}).once('connect', () => (isOpen = true));
    question(socket, settle);
    socket.once('close', () => {
      clearTimeout(timer);
      settle(isLate || signal.aborted ? 'silent' : isOpen ? 'closed' : 'refused');
    });
  });
}

// Types of TLS records (RFC 5246, A.1).
const ALERT = 0x15;
const HANDSHAKE = 0x16;
/** The type of the first frame that an HTTP/2 server sends, on stream 0 (RFC 9113, 3.4 and 4.1). */
const SETTINGS = 4;

function speechOf(bytes: Buffer): PortSpeech {
  const [type, major = 3] = bytes;
  if ((type === ALERT || type === HANDSHAKE) && major === 3) return 'tls';
  if (bytes.length >= 9 && type === 0 && bytes[3] === SETTINGS && bytes.readUInt32BE(5) === 0) return 'http2';
  const text = bytes.toString('latin1');
  const http = /^HTTP\/\S*(?: (\d{3}))?/.exec(text);
  if (http) {
    const allow = /^Allow: *([\w, ]{1,80})/im.exec(text)?.[1];
    return `http ${http[1] ?? 'no status'}${allow === undefined ? '' : ` (Allow: ${allow})`}`;
  }
  // Skips runs of fewer than five printable characters, which are accidental in a binary greeting such as MySQL's.
  const words = text.slice(0, 200).match(/[ -~]{5,}/g) ?? [];
  return `other ${printable(words.join(' ').trim(), 60)}`.trim();
}
