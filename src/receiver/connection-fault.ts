/** What ended a connection, in words; and as a status, where somebody is left to hear it. */
export interface ConnectionFault {
  readonly status: number | undefined;
  readonly reason: string;
}

/** What is wrong with the headers of a request, whose sender waits for an answer. */
export interface RequestFault extends ConnectionFault {
  readonly status: number;
}

export const NO_HOST: RequestFault = { status: 400, reason: 'it has no Host header, as HTTP/1.1 wants' };

/** RFC 9110, 10.1.1. */
export const OTHER_EXPECTATION: RequestFault = {
  status: 417,
  reason: 'its Expect header is not 100-continue, the only one there is',
};

export const CONNECT: RequestFault = {
  status: 405,
  reason: 'it is a CONNECT, as to a proxy, and this is none: webhooks come as POST',
};

export const SENDER_LEFT: ConnectionFault = { status: undefined, reason: 'its sender left in the middle' };

/** A client checks a certificate only when the handshake is over, and then leaves without a word. */
export const LEFT_AFTER_HANDSHAKE: ConnectionFault = {
  status: undefined,
  reason:
    'its sender left after the TLS handshake, without a request: it does not trust the certificate, perhaps',
};

/** What Node's HTTP parser, its TLS or its timers say against a connection; undefined for a mere end of one. */
export function connectionFaultOf(error: NodeJS.ErrnoException): ConnectionFault | undefined {
  switch (error.code) {
    // An idle connection may end so too. Where a request was being read, its reader notices.
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'ERR_SSL_HTTP_REQUEST':
      return { status: undefined, reason: 'it is plain HTTP, and this is TLS: post to https://' };
    case 'ERR_TLS_HANDSHAKE_TIMEOUT':
      return { status: undefined, reason: 'its TLS handshake came too slowly' };
    case 'HPE_INVALID_EOF_STATE':
      return SENDER_LEFT;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'it came too slowly' };
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, reason: 'its headers are over 16 KiB' };
    default:
      if (error.code?.startsWith('ERR_SSL_') === true) return tlsFault(error.code);
      return { status: 400, reason: `it is not HTTP/1.1 (${error.code ?? 'malformed'})` };
  }
}

/** A client that says why it leaves sends an alert, whose name is in the code. */
function tlsFault(code: string): ConnectionFault {
  const alert = /ALERT_(.+)$/.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ');
  const isDistrust = alert !== undefined && /unknown ca|certificate/.test(alert);
  const why = isDistrust
    ? `its sender does not trust the certificate (${alert})`
    : `its TLS failed (${code})`;
  return { status: undefined, reason: why };
}

/** An answer to what is no request, so that Node has no response to write it with. */
export function rawResponse(status: number, reason: string): string {
  const text = `${reason}\n`;
  return [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? 'Bad Request'}`,
    'connection: close',
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    // RFC 9110, 15.5.6: a 405 says what is allowed.
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
