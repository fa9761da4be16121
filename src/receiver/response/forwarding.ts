import type { TimedResponse } from './script.ts';

/** Forwards a request to another receiver and resolves with its response. Never rejects for what that receiver does; stops with the signal. */
export type Forward = (request: ForwardRequest, signal: AbortSignal) => Promise<Forwarded>;

/** A request to forward: the exact bytes, and the headers as received, secrets included. */
export interface ForwardRequest {
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** The response of the other receiver; without a status, why there is none. */
export interface Forwarded {
  /** The URL, redacted. */
  readonly url: string;
  readonly status?: number;
  /** A stable code of the transport; `detail` says in words what happened. */
  readonly error?: string;
  readonly detail?: string;
  readonly retryAfter?: string;
  /** The headers of the response that tell where it comes from. From outside. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why it did not take the request, where that is known: the code of a ResponseCause or a NetworkCause. */
  readonly cause?: string;
  /** The cause in words; absent where status or `detail` say it all. */
  readonly says?: string;
  /** How to fix it. */
  readonly hint?: string;
  /** The beginning of the response's body. From outside. */
  readonly reply?: string;
  readonly ms: number;
}

/** The response to the sender when no script sets another: the same one, or a gateway's 502 or 504 when there was none. */
export function relayedResponse({ status, error, detail, retryAfter, reply }: Forwarded): RelayedResponse {
  if (status === undefined) {
    return { status: error === 'timeout' ? 504 : 502, text: `${error}: ${detail}\n`, headers: [] };
  }
  return { status, text: reply ?? '', headers: retryAfter === undefined ? [] : ['retry-after', retryAfter] };
}

type RelayedResponse = Pick<TimedResponse & { kind: 'status' }, 'status' | 'headers'> & {
  readonly text: string;
};

/**
 * Headers of one connection, not of the message (RFC 9110, 7.6.1), and those that follow from the URL and the bytes. Accept-Encoding
 * is one of them: a response is shown, and returned as text, so that it must not be packed.
 */
const OF_ONE_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  'proxy-authorization',
  'proxy-authenticate',
];

/** The headers to forward: in order, as spelled, repeated ones kept apart. */
export function endToEndHeaders(rawHeaders: readonly string[]): [name: string, value: string][] {
  const dropped = new Set(OF_ONE_CONNECTION);
  for (const [name, value] of pairsOf(rawHeaders)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const each of value.split(',')) dropped.add(each.trim().toLowerCase());
  }
  return pairsOf(rawHeaders).filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** The pairs of a flat list of names and values. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return pairs;
}
