import type { OptionKind } from '../validate-options.ts';

/** Options of the connections to a receiver. They apply to URLs in the config, of a tracking API and on a command line. */
export interface ConnectionOptions {
  /**
   * A PEM file with certificate authorities to trust besides Node's own. If the file is invalid, send() rejects with
   * ConfigError. @default none
   */
  readonly caFile?: string | undefined;
}

export const CONNECTION_KINDS = {
  caFile: 'a string',
} as const satisfies Record<keyof ConnectionOptions, OptionKind>;

/**
 * Sends single POST requests, each with one timeout. Never follows a redirect, and never throws for what a receiver or the
 * network does. There are two implementations: undici-transport.ts, and a plain function in tests.
 */
export interface Transport {
  /**
   * Sends a request. Rejects only if it cannot be made: TransportError (a URL that is not http: or https:, a header that
   * HTTP does not allow), ConfigError (`caFile`, a proxy variable), ClosedError (after close()).
   */
  send(request: TransportRequest): Promise<TransportResult>;
  /** Closes idle connections and resolves when all sockets are closed. Attempts in flight end as `aborted`. */
  close(): Promise<void>;
}

export interface TransportRequest {
  /** The URL to post to: `http:` or `https:`, without userinfo and fragment. */
  readonly url: string;
  /** Name, value, name, value …: undici's own form, so that a webhook's list is built once. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Time limit in milliseconds, from the start of the attempt (before name lookup, connect and TLS) to the headers. */
  readonly timeoutMs: number;
  /** Positions at which the body is cut. Its parts are written one after the other, with a pause between. @default none */
  readonly cutsAt?: readonly number[] | undefined;
  readonly signal?: AbortSignal;
  /**
   * Maximum number of body bytes to return, whatever the status. The result then waits for the end of the body or for
   * `timeoutMs`, and has the bytes received until then. For callers that need the body.
   */
  readonly responseBytes?: number;
  /**
   * Time limit in milliseconds for the body, after the status and within `timeoutMs`. Only used with `responseBytes`.
   * @default the rest of `timeoutMs`
   */
  readonly responseMs?: number;
  /** Connection options of this request. @default the connection options of the transport */
  readonly connection?: ConnectionOptions | undefined;
  /**
   * Whether to destroy the connection at the first byte of a response, as a failing network would. The result is then the
   * failure `aborted`. @default false
   */
  readonly cutsResponse?: boolean;
  /**
   * Called when a connection is open. The request is sent only when `release` is called, so that a caller can send several
   * requests at once.
   */
  readonly hold?: ((release: () => void) => void) | undefined;
  /** Called with the status and all headers of the response, which can repeat secrets of the request. */
  readonly onHead?: ((status: number, headers: ResponseHeaders) => void) | undefined;
  /** Whether the request may go to any address, even if the transport allows only public ones. @default false */
  readonly allowPrivate?: boolean | undefined;
}

/** The headers of a response as received, with lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type TransportResult = TransportResponse | TransportFailure;

export interface TransportResponse {
  readonly kind: 'response';
  readonly status: number;
  /** The `Retry-After` header as received. */
  readonly retryAfter?: string | undefined;
  /**
   * Headers that show which system sent the response (EVIDENCE_HEADERS), with lower-case names. Undefined for a 2xx without
   * `responseBytes`. Unescaped; the secrets of the request are removed.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The first 16 KB of the body, or its first `responseBytes` bytes; unescaped. Undefined for a 2xx without
   * `responseBytes`. The secrets of the request are removed, except from a 2xx.
   */
  readonly body?: string | undefined;
  /** Why `body` is incomplete; only set with `responseBytes`. `length` if the body is longer than `responseBytes`. */
  readonly bodyCutBy?: NetworkError | 'length';
  /** Milliseconds from the start of the attempt to the status line. */
  readonly ms: number;
  /** Whether the request was repeated once, because a reused connection died before the first byte of a response. */
  readonly reconnected: boolean;
}

export interface TransportFailure extends NetworkFailure {
  readonly kind: 'failure';
  readonly ms: number;
  readonly reconnected: boolean;
}

/** The failure of a request without a response. */
export interface NetworkFailure {
  readonly error: NetworkError;
  /** A description of the failure, without secrets. */
  readonly detail: string;
  /** A cause that is more exact than `error`: a code of diagnosis/network/network-causes.ts. */
  readonly cause?: string;
}

/**
 * Stable error codes of the output. `aborted`: the caller aborted the request. All others concern the receiver or the
 * connection.
 */
export type NetworkError = keyof typeof NETWORK_ERRORS;

/**
 * The meaning of each error. `passing`: the same request may succeed later. `lasting`: a certificate must change, which
 * rarely happens within a retry window. `local`: this program or its settings ended the request, not the receiver.
 */
export const NETWORK_ERRORS = {
  timeout: 'passing',
  refused: 'passing',
  dns: 'passing',
  reset: 'passing',
  protocol: 'passing',
  'tls-self-signed': 'lasting',
  'tls-expired': 'lasting',
  'tls-hostname': 'lasting',
  'tls-untrusted': 'lasting',
  tls: 'lasting',
  'blocked-address': 'local',
  aborted: 'local',
} as const;
