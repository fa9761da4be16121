/**
 * Forwards a request to another receiver and resolves with its response. Resolves with an error instead of rejecting if the
 * other receiver fails. The signal aborts the request.
 */
export type Forward = (request: ForwardRequest, signal: AbortSignal) => Promise<Forwarded>;

/** A request to forward: the exact bytes, and the headers as received, secrets included. */
export interface ForwardRequest {
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

/** The response of the other receiver. If there was no response, `error` and `detail` are set instead of `status`. */
export interface Forwarded {
  /** The URL of the other receiver, redacted. */
  readonly url: string;
  readonly status?: number;
  /** Code for why the other receiver sent no complete response. The code does not change between versions. */
  readonly error?: string;
  /** Why the other receiver sent no complete response, in words; of a failed response its own message. */
  readonly detail?: string;
  readonly retryAfter?: string;
  /** Response headers that show which system sent the response, with lower-case names. Untrusted. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why the other receiver did not accept the request, if known: the code of a ResponseCause or a NetworkCause. */
  readonly cause?: string;
  /** How certain `cause` is. */
  readonly confidence?: 'proved' | 'likely' | 'possible';
  /** Why the other receiver did not accept the request, in words. Undefined if status or `detail` are sufficient. */
  readonly says?: string;
  /** How to fix the cause in `cause`. */
  readonly hint?: string;
  /** The beginning of the other receiver's response body. Untrusted. */
  readonly reply?: string;
  readonly ms: number;
}

/**
 * The response to the sender if there is no script: the response of the other receiver. If there was none, 502 or 504, like
 * a gateway.
 */
export function relayedResponse({ status, error, detail, retryAfter, reply }: Forwarded): {
  readonly status: number;
  readonly text: string;
  readonly headers: readonly string[];
} {
  if (status === undefined) {
    return { status: error === 'timeout' ? 504 : 502, text: `${error}: ${detail}\n`, headers: [] };
  }
  return { status, text: reply ?? '', headers: retryAfter === undefined ? [] : ['retry-after', retryAfter] };
}

/**
 * Matches the lower-case names of headers that are not forwarded. Most belong to a single connection (RFC 9110, 7.6.1) or
 * follow from URL and body. Accept-Encoding is dropped because the response is shown and returned as text, so it must not
 * be compressed.
 */
const CONNECTION_HEADER =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|proxy-.+)$/;

/** Matches the lower-case names of headers that proxies and tunnels add. */
export const PROXY_HEADER = /^(?:forwarded|via|x-forwarded-.+|.+-(?:client|connecting|real)-ip)$/;

/** The headers to forward: without those of the connection, in order, as spelled and without merging repeated headers. */
export function endToEndHeaders(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs = pairsOf(rawHeaders);
  const connection = pairs.filter(([name]) => name.toLowerCase() === 'connection');
  const named = new Set(connection.flatMap(([, value]) => value.toLowerCase().split(/[\s,]+/)));
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase();
    return !CONNECTION_HEADER.test(lower) && !named.has(lower);
  });
}

/** Converts a flat list of names and values to pairs. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return pairs;
}
