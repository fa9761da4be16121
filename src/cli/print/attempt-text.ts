import { printable } from '../../redact.ts';

/** One POST as it is told of: what the engine and the tracking API's client keep of it both fit. */
export interface ToldAttempt {
  /** Redacted. */
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  readonly detail?: string;
}

/** What stands before the URL, by the code of cli.md. Codes that come with a status are told by it. */
const WITHOUT_STATUS: Readonly<Record<string, string>> = {
  timeout: 'no answer in time from',
  refused: 'cannot connect to',
  dns: 'name lookup failed for',
  reset: 'connection broken off by',
  protocol: 'no HTTP answer from',
  'tls-self-signed': 'self-signed certificate at',
  'tls-expired': 'certificate not valid now at',
  'tls-hostname': 'certificate for another name at',
  'tls-untrusted': 'untrusted certificate at',
  tls: 'no TLS connection to',
  'blocked-address': 'address not allowed for',
  aborted: 'interrupted while waiting for',
};

/** `503 Service Unavailable from https://a.example/hook`, `cannot connect to https://b.example/hook` */
export function attemptText({ url, status, error = 'failed' }: ToldAttempt): string {
  const what = status === undefined ? (WITHOUT_STATUS[error] ?? `${error} at`) : `${statusText(status)} from`;
  return `${what} ${printable(url)}`;
}

function statusText(status: number): string {
  const phrase = process.getBuiltinModule('node:http').STATUS_CODES[status];
  return phrase === undefined ? String(status) : `${status} ${phrase}`;
}

/** What the receiver or the network said besides, if it said anything. */
export function detailText({ status, detail }: ToldAttempt): string | undefined {
  if (detail === undefined || detail.trim() === '') return undefined;
  return status === undefined ? printable(detail, 200) : `it said: ${printable(detail.trim(), 200)}`;
}

/** `<1ms`, `412ms`, `2.1s`, `30s`, `1m 23s`, `4h 0m` */
export function durationText(ms: number): string {
  if (ms < 1) return '<1ms';
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** As exact as a line of results is. Ms. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
