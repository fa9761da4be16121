/** Why a connection ended without a request. `status` is undefined if the sender cannot read a response. */
export interface ConnectionProblem {
  readonly status: number | undefined;
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

/** Any expectation but 100-continue, the only one that RFC 9110, 10.1.1 defines. */
export const OTHER_EXPECTATION: RequestProblem = {
  status: 417,
  reason: 'its Expect header is not 100-continue, the only expectation that exists',
};

export const CONNECT: RequestProblem = {
  status: 405,
  reason: 'it is a CONNECT request, but this is not a proxy: send webhooks as POST',
};

export const SENDER_LEFT: ConnectionProblem = {
  status: undefined,
  reason: 'its sender disconnected before the end of the request',
};

/** A client checks the certificate only after the handshake, and closes the connection without an alert if it distrusts it. */
export const LEFT_AFTER_HANDSHAKE: ConnectionProblem = {
  status: undefined,
  reason:
    'its sender disconnected after the TLS handshake, without a request: perhaps it does not trust the certificate',
};

const TLS_HELLO: ConnectionProblem = {
  status: 400,
  reason:
    'it is TLS, but this port speaks plain HTTP: post to http://, or start hooks listen with --self-signed',
};

const HTTP2: ConnectionProblem = {
  status: 400,
  reason: 'it is HTTP/2, but this port speaks HTTP/1.1: make the sender use HTTP/1.1 (curl: --http1.1)',
};

/** Whether bytes begin with a handshake record of any TLS version (RFC 8446, 5.1). */
function isTlsHello([type, major]: Iterable<number> = []): boolean {
  return type === 0x16 && major === 0x03;
}

/** Explains an error of Node's HTTP parser, TLS or timers. Undefined if the connection merely ended. */
export function connectionProblemOf(
  error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer },
): ConnectionProblem | undefined {
  if (isTlsHello(error.rawPacket)) return TLS_HELLO;
  switch (error.code) {
    // Idle connections can end this way too. If a request was being read, the reader of its body reports it.
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'ERR_SSL_HTTP_REQUEST':
      return { status: undefined, reason: 'it is plain HTTP, but this port speaks TLS: post to https://' };
    case 'ERR_TLS_HANDSHAKE_TIMEOUT':
      return { status: undefined, reason: 'its TLS handshake was too slow' };
    case 'HPE_PAUSED_H2_UPGRADE':
      return HTTP2;
    case 'HPE_INVALID_EOF_STATE':
      return SENDER_LEFT;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'it was sent too slowly' };
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, reason: 'its headers are over 16 KiB' };
    default:
      if (error.code?.startsWith('ERR_SSL_') === true) return tlsProblem(error.code);
      return { status: 400, reason: `it is not HTTP/1.1 (${error.code ?? 'malformed'})` };
  }
}

/** Explains a TLS failure. If the client sent an alert, its name is in the code. */
function tlsProblem(code: string): ConnectionProblem {
  const alert = /ALERT_(.+)$/.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ');
  const isDistrust = alert !== undefined && /unknown ca|certificate/.test(alert);
  const why = isDistrust
    ? `its sender does not trust the certificate (${alert})`
    : `its TLS failed (${code})`;
  return { status: undefined, reason: why };
}

/** The text of a response to input that is not a request, for which Node has no response object. */
export function rawResponse(status: number, reason: string): string {
  const text = `${reason}\n`;
  return [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? 'Bad Request'}`,
    'connection: close',
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    // RFC 9110, 15.5.6: a 405 lists the allowed methods.
    ...(status === 405 ? ['allow: POST'] : []),
    '',
    text,
  ].join('\r\n');
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};
