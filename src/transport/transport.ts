import type { OptionKind } from '../validate-options.ts';

/** How requests reach a receiver, wherever its URL is given: in the config, as a tracking API or on a command line. */
export interface ConnectionOptions {
  /** A PEM file with issuers to trust besides Node's own. A file that cannot be used makes send() reject with a ConfigError. @default none */
  readonly caFile?: string | undefined;
}

export const CONNECTION_KINDS = {
  caFile: 'a string',
} as const satisfies Record<keyof ConnectionOptions, OptionKind>;

/**
 * One POST, made once, under one deadline. Never follows a redirect, never throws for what a receiver or the network
 * does. Two implementations: undici-transport.ts, and a plain function in tests.
 */
export interface Transport {
  /**
   * Rejects only for a request that cannot be made at all: TransportError (a URL of another scheme, a header that HTTP
   * does not allow), ConfigError (`caFile`, a proxy variable), ClosedError (after close()).
   */
  send(request: TransportRequest): Promise<TransportResult>;
  /** Ends idle connections and resolves when no socket is left; attempts in flight end as `aborted`. */
  close(): Promise<void>;
}

export interface TransportRequest {
  /** http: or https:, without userinfo and fragment. */
  readonly url: string;
  /** Name, value, name, value …: what undici takes as it is, so that a webhook's list is built once. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** From the start of the attempt (name lookup, connect and TLS included) to the response's status and headers. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * Give the response's body as `body` whatever its status, up to this many bytes: the result then comes with the
   * body's end, or with what there is of it after `timeoutMs`. For responses that say more than their status.
   */
  readonly responseBytes?: number;
  /** With `responseBytes`: how long the body may take once the status is there, within `timeoutMs`. @default as long as that */
  readonly responseMs?: number;
  /** @default the connection options of the transport */
  readonly connection?: ConnectionOptions | undefined;
  /** Destroys the connection at the first byte of a response, as where a network fails: the result is a failure, `aborted`. @default false */
  readonly cutsResponse?: boolean;
  /** Called when a connection is open: nothing is sent before the function that it gets is called, so that several requests go at once. */
  readonly hold?: ((release: () => void) => void) | undefined;
  /** Connects to any address, also where the transport connects to public ones only. @default false */
  readonly allowPrivate?: boolean | undefined;
}

export type TransportResult = TransportResponse | TransportFailure;

export interface TransportResponse {
  readonly kind: 'response';
  readonly status: number;
  /** The header as received. */
  readonly retryAfter?: string | undefined;
  /** Headers that tell where it comes from (evidence-headers.ts), by lower-case names; none of a 2xx without `responseBytes`. Unescaped, without the secrets that were sent. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The first part of the body of a response other than 2xx, as text, unescaped, at most 4,000 characters; with `responseBytes`, that much of any response. Other than of 2xx, without the secrets that were sent. */
  readonly body?: string | undefined;
  /** With `responseBytes`: why `body` is only the first part of the body. `length`: there is more than was asked for. */
  readonly bodyCutBy?: NetworkError | 'length';
  /** From the start of the attempt to the status line. */
  readonly ms: number;
  /** The first connection was a reused one that died before any byte of a response, so the request was repeated once. */
  readonly reconnected: boolean;
}

export interface TransportFailure {
  readonly kind: 'failure';
  readonly error: NetworkError;
  /** What happened, in words, without secrets. */
  readonly detail: string;
  /** What is known more exactly: a code of diagnosis/causes/network-causes.ts. */
  readonly cause?: string;
  readonly ms: number;
  readonly reconnected: boolean;
}

/** Stable codes (cli.md). `aborted`: the caller's signal; everything else is about the receiver or the way to it. */
export type NetworkError =
  | 'timeout'
  | 'refused'
  | 'dns'
  | 'reset'
  | 'protocol'
  | 'tls-self-signed'
  | 'tls-expired'
  | 'tls-hostname'
  | 'tls-untrusted'
  | 'tls'
  | 'blocked-address'
  | 'aborted';
