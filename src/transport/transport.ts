import type { OptionKind } from '../validate-options.ts';

/** Options of the connections to a receiver, whether its URL is in the config, belongs to a tracking API or is on a command line. */
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
   * Rejects only for a request that cannot be made: TransportError (a URL of another scheme, a header that HTTP does not
   * allow), ConfigError (`caFile`, a proxy variable), ClosedError (after close()).
   */
  send(request: TransportRequest): Promise<TransportResult>;
  /** Closes idle connections and resolves when all sockets are closed. Attempts in flight end as `aborted`. */
  close(): Promise<void>;
}

export interface TransportRequest {
  /** `http:` or `https:`, without userinfo and fragment. */
  readonly url: string;
  /** Name, value, name, value …: undici's own form, so that a webhook's list is built once. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Milliseconds from the start of the attempt (name lookup, connect and TLS included) to the response's status and headers. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * Bytes of the response's body to return as `body`, whatever its status. The result then waits for the end of the body, or
   * for `timeoutMs`, and has the body received so far. For responses whose body matters.
   */
  readonly responseBytes?: number;
  /** Milliseconds for the body after the status, within `timeoutMs`. Only with `responseBytes`. @default the rest of `timeoutMs` */
  readonly responseMs?: number;
  /** @default the connection options of the transport */
  readonly connection?: ConnectionOptions | undefined;
  /**
   * Destroys the connection at the first byte of a response, as a failing network would. The result is the failure
   * `aborted`. @default false
   */
  readonly cutsResponse?: boolean;
  /**
   * Called when a connection is open. The request is sent when the given function is called, so that several requests leave
   * at once.
   */
  readonly hold?: ((release: () => void) => void) | undefined;
  /** Allows any address, even if the transport allows only public ones. @default false */
  readonly allowPrivate?: boolean | undefined;
}

export type TransportResult = TransportResponse | TransportFailure;

export interface TransportResponse {
  readonly kind: 'response';
  readonly status: number;
  /** The header as received. */
  readonly retryAfter?: string | undefined;
  /**
   * Headers that show where the response comes from (EVIDENCE_HEADERS), with lower-case names. Undefined for a 2xx without
   * `responseBytes`. Unescaped, without the secrets that were sent.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The first 4,000 characters of the body, unescaped; with `responseBytes`, that many bytes. Undefined for a 2xx without
   * `responseBytes`. Without the secrets that were sent, except for a 2xx.
   */
  readonly body?: string | undefined;
  /** Why `body` is incomplete, with `responseBytes` only. `length` if the body is longer than `responseBytes`. */
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
  /** A more exact cause: a code of diagnosis/causes/network-causes.ts. */
  readonly cause?: string;
}

/** Stable codes (cli.md). `aborted` if the caller's signal was aborted; all others concern the receiver or the connection to it. */
export type NetworkError = keyof typeof NETWORK_ERRORS;

/**
 * The meaning of each error. `passing`: the same request may succeed later. `lasting`: a certificate must change, which rarely
 * happens within a retry window. `local`: this program or its settings ended the request, not the receiver.
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
