import type { IncomingMessage, ServerResponse } from 'node:http';
import { validateOptions, type OptionKind } from '../validate-options.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { SchemeChoice } from '../signature/schemes/find-schemes.ts';
import type { VerifyOptions } from '../signature/verify-options.ts';
import { isBlankSecret } from '../signature/secret.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { Forward } from './response/forwarding.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { Script } from './response/script.ts';

/** Further secrets for the diagnosis of a mismatch, besides the accepted secrets. */
export type SecretsForDiagnosis = Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>;

export interface ReceiverOptions {
  /** The name or address of this machine to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** The port to listen on, 0 to 65,535; 0 selects a free port. @default 0 */
  readonly port?: number | undefined;
  /** The accepted secrets: a signature made with any of them is valid. With an empty list signatures are not verified. */
  readonly secrets: readonly string[];
  /** The accepted signature schemes: names or custom schemes; see `verify`. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
  /**
   * Custom schemes to detect from a request's headers, besides the built-in schemes, if `scheme` is undefined; false to
   * detect none. For display only: a valid signature proves nothing, because the sender chooses the scheme. @default false
   */
  readonly detectSchemes?: readonly SignatureScheme[] | false | undefined;
  /** Further secrets for the diagnosis of mismatches. @default none */
  readonly knownSecrets?: SecretsForDiagnosis | undefined;
  /** The certificate for TLS. @default plain HTTP */
  readonly certificate?: ServerCertificate | undefined;
  /** The responses to accepted POSTs. @default the response of `forward`; without it always 200 */
  readonly script?: Script | undefined;
  /** Forwards accepted POSTs before responding. @default nothing is forwarded */
  readonly forward?: Forward | undefined;
  /**
   * Serves the requests of the receiver's own pages (the inbox). Returns true if it served the request, which then is
   * neither reported nor counted.
   */
  readonly serveOwn?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /**
   * Whether to respond with 401 to a request without a valid signature; requires a secret. A request that gets this 401 uses
   * no step of the script. @default false
   */
  readonly requireSignature?: boolean | undefined;
  /** Validates a body as a message. Returns the problem as a sentence, which the report shows as `problem`, or undefined. */
  readonly check?: (body: Uint8Array) => string | undefined;
  /** Called once per request, just before its response is sent. Must not throw. */
  readonly onRequest: (request: ReceivedRequest) => void;
  /** Called for each CORS preflight of a call. Must not throw. */
  readonly onPreflight?: () => void;
  /**
   * Called after each report. The response waits for the returned promise, so that senders cannot outpace the reader of the
   * reports. Undefined to respond at once. @default responses never wait
   */
  readonly drained?: () => Promise<unknown> | undefined;
  /**
   * Called with true when the first request in flight arrives, with false when the last is reported or rejected. Must not
   * throw.
   */
  readonly onBusy?: (isBusy: boolean) => void;
  /** Called for input that is not a complete request. Must not throw. */
  readonly onRefused?: ((rejection: ConnectionRejection) => void) | undefined;
  readonly limits?: Partial<ReceiverLimits> | undefined;
  readonly clock?: Clock | undefined;
}

/** A key and its certificate, both as PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

/** Input that is not a complete request: too large, too slow, malformed, cut off, or beyond the connection limit. */
export interface ConnectionRejection {
  /** Time of the rejection. Ms since the epoch. */
  readonly at: number;
  /** The status of the response. Undefined if none could be sent. */
  readonly status: number | undefined;
  /** Why the input was rejected, safe to show, as the end of a sentence (`Rejected with 413: its body is over 10 bytes`). */
  readonly reason: string;
}

export interface ReceiverLimits {
  /** Bytes of the largest accepted body; a larger body gets 413. @default 10_485_760 (10 MiB) */
  readonly bodyBytes: number;
  /**
   * Most bytes in the bodies of all requests that are being read, held or forwarded over all connections; further requests
   * get 503.
   * @default 134_217_728 (128 MiB)
   */
  readonly openBytes: number;
  /** Limit for the time from a connection's first byte to the end of the headers. Ms. @default 10_000 */
  readonly headersMs: number;
  /** Limit for the time from a connection's first byte to the end of the body. Ms. @default 30_000 */
  readonly requestMs: number;
  /** Most connections at once; further connections are closed at once. @default 4096 */
  readonly connections: number;
  /** Interval between the bytes of a `slow-body` response. Ms. @default 500 */
  readonly dripMs: number;
}

export const RECEIVER_LIMITS: ReceiverLimits = {
  bodyBytes: 10 * 1024 * 1024,
  openBytes: 128 * 1024 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 4096,
  dripMs: 500,
};

const KINDS = {
  host: 'a string',
  port: { least: 0, most: 65_535 },
  secrets: 'a list',
  scheme: 'given',
  detectSchemes: 'given',
  knownSecrets: 'an object',
  certificate: 'an object',
  script: 'a list',
  forward: 'a function',
  serveOwn: 'a function',
  requireSignature: 'a boolean',
  check: 'a function',
  onRequest: 'a function',
  onPreflight: 'a function',
  drained: 'a function',
  onBusy: 'a function',
  onRefused: 'a function',
  limits: 'an object',
  clock: 'an object',
} as const satisfies Record<keyof ReceiverOptions, OptionKind>;

const LIMIT_KINDS: Readonly<Record<string, OptionKind>> = Object.fromEntries(
  Object.keys(RECEIVER_LIMITS).map((name) => [name, 'given']),
);

/**
 * Throws ConfigError for options that are unknown or of the wrong kind, for blank secrets, and if signatures are required
 * without a secret.
 */
export function validateReceiverOptions(options: ReceiverOptions): void {
  validateOptions(options, {
    kinds: KINDS,
    required: ['secrets', 'onRequest'],
    otherNames: { sharedSecret: 'secrets', sharedSecrets: 'secrets', respond: 'script' },
  });
  const { requireSignature, secrets, limits = {} } = options;
  validateOptions(limits, { setting: 'limits', kinds: LIMIT_KINDS });
  if (requireSignature === true && secrets.length === 0) {
    throw new ConfigError('Expected a secret to verify the required signatures with, got none', {
      key: 'requireSignature',
      hint: "set `secrets` to the sender's secret",
    });
  }
  if (secrets.some(isBlankSecret)) {
    throw new ConfigError('Expected `secrets` to hold no blank secret, got one', {
      key: 'secrets',
      hint: 'leave `secrets` empty to skip the verification of signatures',
    });
  }
}
