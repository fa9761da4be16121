import type { TimedResponse } from './script.ts';

/** Passes a request on to another receiver and tells what that said. Never rejects for what it does; ends with the signal. */
export type Forward = (request: ForwardRequest, signal: AbortSignal) => Promise<Forwarded>;

/** What is passed on: the exact bytes, and the headers as they came, secrets included. */
export interface ForwardRequest {
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** What the other receiver answered; without a status, why there is no answer. */
export interface Forwarded {
  /** As it may be shown. */
  readonly url: string;
  readonly status?: number;
  /** A stable code of the transport, and what happened in words. */
  readonly error?: string;
  readonly detail?: string;
  readonly retryAfter?: string;
  /** The beginning of its answer's body. From outside. */
  readonly reply?: string;
  readonly ms: number;
}

/** What the sender is answered when no script says otherwise: the same, or as a gateway says that there was no answer. */
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
 * RFC 9110, 7.6.1, and what follows from the URL and the bytes: it belongs to one connection, not to the message. Neither is an answer
 * for the sender to unpack: it is shown, and given back as text.
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

/** The headers that are passed on: in order, as spelled, repeated ones kept apart. */
export function endToEndHeaders(rawHeaders: readonly string[]): [name: string, value: string][] {
  const dropped = new Set(OF_ONE_CONNECTION);
  for (const [name, value] of pairsOf(rawHeaders)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const each of value.split(',')) dropped.add(each.trim().toLowerCase());
  }
  return pairsOf(rawHeaders).filter(([name]) => !dropped.has(name.toLowerCase()));
}

export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return pairs;
}
