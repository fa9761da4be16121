import { connect, isIP, type Socket } from 'node:net';
import { addAbortSignal, Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { printable } from '../../redact.ts';

export interface PortFacts {
  /**
   * The protocol of the first bytes. `closed`: the server closed the connection without sending a byte. `silent`: no
   * byte arrived in time. `refused`: the connection failed.
   */
  readonly speech: 'tls' | 'http' | 'http2' | 'other' | 'closed' | 'silent' | 'refused';
  /** `http`: the status and the allowed methods, `405 (Allow: GET)`. `other`: the greeting, `SSH-2.0-OpenSSH_9.6`. */
  readonly words?: string;
}

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
export async function askPort(asked: AskedPort): Promise<PortFacts> {
  const hello = await askInTls(asked);
  if (/^(?:tls|http2?|refused)$/.test(hello.speech)) return hello;
  const plain = await askInHttp({ ...asked, isTls: false });
  return hello.speech === 'other' && plain.speech === 'closed' ? hello : plain;
}

/** Sends a request without a body: by default, one that does not change the state of a server (RFC 9110, 9.3.7). */
export function askInHttp(asked: AskedPort, line = 'OPTIONS *', host = 'localhost'): Promise<PortFacts> {
  return ask(asked, (socket, settle) => {
    socket.once('data', (chunk: Buffer) => settle(factsOf(chunk)));
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

/** Sends a TLS hello, and reads the first bytes of the response. Does not finish the handshake. */
export function askInTls(asked: AskedPort): Promise<PortFacts> {
  return ask({ ...asked, isTls: false }, (socket, settle) => {
    const below = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    });
    socket.once('data', (chunk: Buffer) => settle(factsOf(chunk))).once('close', () => below.destroy());
    const servername = isIP(asked.host) === 0 ? asked.host : '';
    connectTls({ socket: below, servername, rejectUnauthorized: false }).on('error', () => {});
  });
}

/** Sends an HTTP request and describes the response: `http 200`, `closed`, `other SSH-2.0-OpenSSH_9.6`. */
export async function responseInHttp(...question: Parameters<typeof askInHttp>): Promise<string> {
  return speechText(await askInHttp(...question));
}

export function speechText({ speech, words = '' }: PortFacts): string {
  return `${speech} ${words}`.trim();
}

/** Opens a connection for one question. Closes the connection after `settle`, when the time is up, or on abort. */
function ask(
  { host, port, timeoutMs, signal, isTls = false }: AskedPort,
  question: (socket: Socket, settle: (facts: PortFacts) => void) => void,
): Promise<PortFacts> {
  return new Promise((resolve) => {
    const to = { host, port, ...(isTls && { rejectUnauthorized: false }) };
    const socket = addAbortSignal(signal, isTls ? connectTls(to) : connect(to));
    // Uses a timer: Node 20 can garbage-collect an AbortSignal.any with a timeout before the time is up.
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      socket.destroy();
    }, timeoutMs);
    const settle = (facts: PortFacts): void => {
      resolve(facts);
      socket.destroy();
    };
    let isOpen = false;
    socket.on('error', () => {}).once('connect', () => (isOpen = true));
    question(socket, settle);
    socket.once('close', () => {
      clearTimeout(timer);
      settle({ speech: isLate || signal.aborted ? 'silent' : isOpen ? 'closed' : 'refused' });
    });
  });
}

// Types of TLS records (RFC 5246, A.1).
const ALERT = 0x15;
const HANDSHAKE = 0x16;
/** The type of the first frame that an HTTP/2 server sends, on stream 0 (RFC 9113, 3.4 and 4.1). */
const SETTINGS = 4;

function factsOf(bytes: Buffer): PortFacts {
  const [type, major = 3] = bytes;
  if ((type === ALERT || type === HANDSHAKE) && major === 3) return { speech: 'tls' };
  if (bytes.length >= 9 && type === 0 && bytes[3] === SETTINGS && bytes.readUInt32BE(5) === 0) {
    return { speech: 'http2' };
  }
  const text = bytes.subarray(0, 200).toString('latin1');
  const status = /^HTTP\/\S*(?: (\d{3}))?/.exec(text);
  if (status) {
    const allow = /^Allow: *([\w, ]{1,80})/im.exec(bytes.toString('latin1'))?.[1];
    return {
      speech: 'http',
      words: (status[1] ?? 'no status') + (allow === undefined ? '' : ` (Allow: ${allow})`),
    };
  }
  // Skips runs of fewer than five printable characters, which are accidental in a binary greeting such as MySQL's.
  const words = text.match(/[ -~]{5,}/g)?.join(' ') ?? '';
  return { speech: 'other', words: printable(words.trim(), 60) };
}
