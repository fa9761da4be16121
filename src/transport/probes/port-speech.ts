import { connect, isIP, type Socket } from 'node:net';
import { addAbortSignal, Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { printable } from '../../redact.ts';

export interface PortFacts {
  /**
   * The protocol of the first bytes. `closed`: the server closed the connection without sending a byte. `silent`: no
   * byte arrived in time. `refused`: the connection failed.
   */
  readonly speech: 'tls' | 'http' | 'http2' | 'database' | 'other' | 'closed' | 'silent' | 'refused';
  /**
   * Details that depend on `speech`. `http`: the status and the allowed methods, `405 (Allow: GET)`. `database`: its
   * name. `other`: the greeting, `SSH-2.0-OpenSSH_9.6`. `tls`: `mutual` if the server requests a client certificate,
   * `accepted` if it accepts TLS 1.2 and requests none.
   */
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
 * Finds out the protocol of a port: asks in TLS, then in HTTP and in the protocols of DATABASES. TLS comes first
 * because many TLS servers respond to plain HTTP with a 400 in plain HTTP. Asks in HTTP even if the response to TLS is
 * in an unknown protocol, because Python's servers respond to a TLS hello in HTTP/0.9, without a status line.
 * `isHttpTried`: the failed request was HTTP, so a port that is silent in TLS is not asked in HTTP.
 */
export async function askPort(asked: AskedPort, isHttpTried = false): Promise<PortFacts> {
  const hello = await askInTls(asked);
  if (['tls', 'http', 'http2', 'refused'].includes(hello.speech)) return hello;
  const isOver = hello.speech === 'silent' && isHttpTried;
  const [plain, database] = await Promise.all([
    isOver ? hello : askInHttp({ ...asked, isTls: false }),
    askAsDatabase(asked),
  ]);
  return database ?? (hello.speech === 'other' && plain.speech === 'closed' ? hello : plain);
}

/** Databases that are recognized by their response to a first message. PostgreSQL is asked whether it supports TLS. */
const DATABASES = [
  { name: 'Redis', question: 'PING\r\n', response: /^(?:\+PONG|-(?:NOAUTH|DENIED|LOADING) )/ },
  { name: 'PostgreSQL', question: '\0\0\0\u0008\u0004\u00d2\u0016\u002f', response: /^[SN]$/ },
] as const;

async function askAsDatabase(asked: AskedPort): Promise<PortFacts | undefined> {
  const asking = DATABASES.map(({ name, question, response }) =>
    ask({ ...asked, isTls: false }, (socket, settle) => {
      socket.once('data', (chunk: Buffer) => {
        const isFound = response.test(chunk.toString('latin1'));
        settle(isFound ? { speech: 'database', words: name } : { speech: 'other' });
      });
      socket.write(question, 'latin1');
    }),
  );
  return (await Promise.all(asking)).find(({ speech }) => speech === 'database');
}

/** Sends a request without a body: by default, one that does not change the state of a server (RFC 9110, 9.3.7). */
export function askInHttp(asked: AskedPort, line = 'OPTIONS *', host = 'localhost'): Promise<PortFacts> {
  return ask(asked, (socket, settle) => {
    socket.once('data', (chunk: Buffer) => settle(factsOf(chunk)));
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

/**
 * Starts a handshake in TLS 1.2 or earlier, where the server's request for a client certificate is not encrypted. Does
 * not verify the certificate of the server, because no request is sent.
 */
export function askInTls(
  asked: AskedPort,
  servername = isIP(asked.host) === 0 ? asked.host : '',
): Promise<PortFacts> {
  return ask({ ...asked, isTls: false }, (socket, settle) => {
    let bytes = Buffer.alloc(0);
    const below = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    });
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      below.push(chunk);
      const facts = factsOf(bytes);
      const types = messageTypes(bytes);
      if (types.includes(CERTIFICATE_REQUEST)) settle({ ...facts, words: 'mutual' });
      else if (types.includes(SERVER_HELLO_DONE)) settle({ ...facts, words: 'accepted' });
      else if (bytes[0] !== HANDSHAKE) settle(facts);
    });
    socket.once('close', () => {
      if (bytes.length > 0) settle(factsOf(bytes));
      below.destroy();
    });
    const options = { socket: below, servername, maxVersion: 'TLSv1.2', rejectUnauthorized: false } as const;
    connectTls(options).on('error', () => {});
  });
}

/** The response to an HTTP request in words: `http 200`, `closed`, `other SSH-2.0-OpenSSH_9.6`. */
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

// Types of TLS records, then of handshake messages (RFC 5246, A.1 and A.4).
const ALERT = 0x15;
const HANDSHAKE = 0x16;
const CERTIFICATE_REQUEST = 13;
const SERVER_HELLO_DONE = 14;
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

/** Returns the types of all TLS handshake messages that have begun. A record can hold several, or a part of one. */
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
