import { STATUS_CODES } from 'node:http';

/** Why a connection ended without a request. `status` is undefined if the sender cannot read a response. */
export interface ConnectionProblem {
  readonly status?: number;
  readonly reason: string;
}

/** Why a request is rejected because of its headers. Its sender waits for a response. */
export interface RequestProblem extends ConnectionProblem {
  readonly status: number;
}

export const NO_HOST: RequestProblem = {
  status: 400,
  reason: 'it has no Host header, which HTTP/1.1 requires',
};

/** The rejection of an Expect header other than 100-continue, the only expectation that RFC 9110, 10.1.1 defines. */
export const OTHER_EXPECTATION: RequestProblem = {
  status: 417,
  reason: 'its Expect header is not 100-continue, the only expectation that exists',
};

export const CONNECT: RequestProblem = {
  status: 405,
  reason: 'it is a CONNECT request, but this is not a proxy: send webhooks as POST',
};

export const SENDER_LEFT: ConnectionProblem = {
  reason: 'its sender disconnected before the end of the request',
};

/**
 * The problem of a client that distrusts the certificate. Such a client checks it only after the handshake, and closes the
 * connection without an alert.
 */
export const LEFT_AFTER_HANDSHAKE: ConnectionProblem = {
  reason:
    'its sender disconnected after the TLS handshake, without a request: perhaps it does not trust the certificate',
};

const TLS_HELLO: ConnectionProblem = {
  status: 400,
  reason:
    'it is TLS, but this port speaks plain HTTP: post to http://, or start hooks listen with --self-signed',
};

/** Whether bytes begin with a handshake record of any TLS version (RFC 8446, 5.1). */
function isTlsHello([type, major]: Iterable<number> = []): boolean {
  return type === 0x16 && major === 0x03;
}

/**
 * Explains an error of Node's HTTP parser, TLS or timers. Undefined if the connection ended without an error worth a report.
 */
export function connectionProblemOf(
  error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer },
): ConnectionProblem | undefined {
  if (isTlsHello(error.rawPacket)) return TLS_HELLO;
  const { code = 'malformed' } = error;
  // Reports neither of these errors, because idle connections can end with them. If a request was being read, the reader of
  // its body reports the end.
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  return code.startsWith('ERR_SSL_')
    ? tlsProblem(code)
    : { status: 400, reason: `it is not HTTP/1.1 (${code})` };
}

const BY_CODE: Readonly<Record<string, ConnectionProblem>> = {
  ERR_SSL_HTTP_REQUEST: { reason: 'it is plain HTTP, but this port speaks TLS: post to https://' },
  ERR_TLS_HANDSHAKE_TIMEOUT: { reason: 'its TLS handshake was too slow' },
  HPE_PAUSED_H2_UPGRADE: {
    status: 400,
    reason: 'it is HTTP/2, but this port speaks HTTP/1.1: make the sender use HTTP/1.1 (curl: --http1.1)',
  },
  HPE_INVALID_EOF_STATE: SENDER_LEFT,
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: 'it was sent too slowly' },
  HPE_HEADER_OVERFLOW: { status: 431, reason: 'its headers are over 16 KiB' },
};

/** Explains a TLS failure. If the client sent an alert, its name is in the code. */
function tlsProblem(code: string): ConnectionProblem {
  const alert = /ALERT_(.+)$/.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ');
  const isDistrust = alert !== undefined && /unknown ca|certificate/.test(alert);
  const why = isDistrust
    ? `its sender does not trust the certificate (${alert})`
    : `its TLS failed (${code})`;
  return { reason: why };
}

/** The text of a response to input that is not a request, for which Node has no response object. */
export function rawResponse(status: number, reason: string): string {
  const text = `${reason}\n`;
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    // RFC 9110, 15.5.6: a 405 lists the allowed methods.
    ...(status === 405 ? ['allow: POST'] : []),
    '',
    text,
  ].join('\r\n');
}
