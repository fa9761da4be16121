import { printable } from '../redact.ts';

/** The fields of an attempt that its text needs, shared by the engine's records and those of the tracking API's client. */
interface ShownAttempt {
  /** URL of the attempt, with its secrets masked. */
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  readonly cause?: string | undefined;
  readonly detail?: string;
}

/** Texts by cause or error code for an attempt without a status, such as `cannot connect to`. The URL follows them. */
const WITHOUT_STATUS: Readonly<Record<string, string>> = {
  timeout: 'no response in time from',
  'no-connection-in-time': 'no connection in time to',
  'not-accepting': 'no connection in time to',
  refused: 'cannot connect to',
  'proxy-unreachable': 'cannot connect to',
  dns: 'name lookup failed for',
  reset: 'connection broken off by',
  protocol: 'no HTTP response from',
  'tls-self-signed': 'self-signed certificate at',
  'tls-expired': 'certificate not valid now at',
  'tls-hostname': 'certificate for another name at',
  'tls-untrusted': 'untrusted certificate at',
  tls: 'no TLS connection to',
  'blocked-address': 'address not allowed for',
  aborted: 'interrupted while waiting for',
};

/** Formats an attempt: `503 Service Unavailable from https://a.example/hook`, `cannot connect to https://b.example/hook`. */
export function attemptText({ url, status, error = 'failed', cause = '' }: ShownAttempt): string {
  const failed = WITHOUT_STATUS[cause] ?? WITHOUT_STATUS[error] ?? `${error} at`;
  const what = status === undefined ? failed : `${statusText(status)} from`;
  return `${what} ${printable(url)}`;
}

function statusText(status: number): string {
  const phrase = process.getBuiltinModule('node:http').STATUS_CODES[status];
  return phrase === undefined ? String(status) : `${status} ${phrase}`;
}

/** Returns the detail of the response or of the network error, or undefined if it is empty. */
export function detailText({ status, error, detail }: ShownAttempt): string | undefined {
  if (detail === undefined || detail.trim() === '') return undefined;
  // Without an HTTP response, the detail describes the network error, and needs no label.
  return status === undefined || error === 'protocol'
    ? printable(detail, 200)
    : `response: ${printable(detail.trim(), 300)}`;
}

/** The text of an attempt, followed by its detail in parentheses if it has one. */
export function attemptWithDetail(attempt: ShownAttempt): string {
  const detail = detailText(attempt);
  return `${attemptText(attempt)}${detail === undefined ? '' : ` (${detail})`}`;
}

/** Servers in which receivers themselves run. */
const FRAMEWORKS =
  /^(?:express|koa|hono|next\.js|php|asp\.net|kestrel|(?:simple|base)http|werkzeug|uvicorn|gunicorn|hypercorn|daphne|waitress|python|tornado|jetty|undertow|puma|thin|webrick|cowboy|node|deno|bun)\b/i;

/** Names the program that responded, if it may be another one than the receiver, and `shown` does not name it. */
export function responderText(
  server: string | undefined,
  shown = '',
  isEmpty200 = false,
): string | undefined {
  const [name = ''] = /^[^\s/(]*/.exec(server ?? '') ?? [];
  if (server === undefined || name === '' || FRAMEWORKS.test(server)) return undefined;
  if (shown.toLowerCase().includes(name.toLowerCase())) return undefined;
  const own =
    isEmpty200 && name === 'Caddy' ? ': Caddy itself responds with an empty 200 where no route matches' : '';
  return `the response names ${printable(server, 60)} as its server${own}`;
}

/** Formats a duration: `<1ms`, `412ms`, `2.1s`, `30s`, `1m 23s` or `4h 0m`. */
export function durationText(ms: number): string {
  if (ms < 1) return '<1ms';
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** Rounds milliseconds to tenths, as result lines show them. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
