/** What ended a connection, in words; and as a status, where somebody is left to hear it. */
export interface ConnectionRefusal {
  readonly status: number | undefined;
  readonly reason: string;
}

export const SENDER_LEFT: ConnectionRefusal = { status: undefined, reason: 'its sender left in the middle' };

/** What Node's HTTP parser or its timers say against a connection; undefined for a mere end of one. */
export function refusalOf(error: NodeJS.ErrnoException): ConnectionRefusal | undefined {
  switch (error.code) {
    // An idle connection may end so too. Where a request was being read, its reader notices.
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_INVALID_EOF_STATE':
      return SENDER_LEFT;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'it came too slowly' };
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, reason: 'its headers are over 16 KiB' };
    default:
      return { status: 400, reason: `it is not HTTP/1.1 (${error.code ?? 'malformed'})` };
  }
}

/** An answer to what is no request, so that Node has no response to write it with. */
export function rawAnswer(status: number, reason: string): string {
  const text = `${reason}\n`;
  return [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? 'Bad Request'}`,
    'connection: close',
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    '',
    text,
  ].join('\r\n');
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};
