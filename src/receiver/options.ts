import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkOptions } from '../check-options.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { Forward } from './forwarding.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { Script } from './script.ts';

export interface ReceiverOptions {
  /** A name or address of this machine. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** 0 to 65,535; 0 takes a free one. @default 0 */
  readonly port?: number | undefined;
  /** Any of them verifies. Empty: signatures are not checked. */
  readonly secrets: readonly string[];
  /** Speaks TLS with it. @default plain HTTP */
  readonly certificate?: ServerCertificate | undefined;
  /** What is answered to the POSTs that are let in. @default what `forward` gave; without it always 200 */
  readonly script?: Script | undefined;
  /** Passes the POSTs that are let in on, before they are answered. @default they go nowhere */
  readonly forward?: Forward | undefined;
  /** Answers requests that are not webhooks (the inbox): true when it took one, which is then neither reported nor counted. */
  readonly serveOwn?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** 401 to what does not verify; needs a secret. Such a request takes no step of the script. @default false */
  readonly requireSignature?: boolean | undefined;
  /** What is wrong with a body as a message, or undefined. Its sentence becomes `problem`. */
  readonly check?: (body: Uint8Array) => string | undefined;
  /** Called once a request, just before its answer is sent. Must not throw. */
  readonly onRequest: (request: ReceivedRequest) => void;
  /**
   * Undefined, or what an answer waits for once its request is reported: whoever reads the reports is slower than the senders.
   * @default they never wait
   */
  readonly drained?: () => Promise<unknown> | undefined;
  /** Called with true when a request comes and no other is open, with false when the last is reported or refused. Must not throw. */
  readonly onBusy?: (isBusy: boolean) => void;
  /** Called for what never became a request. Must not throw. */
  readonly onRefused?: ((refusal: ConnectionRejection) => void) | undefined;
  readonly limits?: Partial<ReceiverLimits> | undefined;
  readonly clock?: Clock | undefined;
}

/** Both as PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

/** What came to the port and is not a request: too large, too slow, malformed, cut off, one connection too many. */
export interface ConnectionRejection {
  /** Ms since the epoch. */
  readonly at: number;
  /** Undefined where nobody was left, or allowed, to hear an answer. */
  readonly status: number | undefined;
  /** A part of a sentence, safe to show. */
  readonly reason: string;
}

export interface ReceiverLimits {
  /** A larger body is answered with 413. @default 10_485_760 (10 MiB) */
  readonly bodyBytes: number;
  /**
   * Of the bodies of all requests that are being read, held or passed on, over all connections; what goes beyond is answered with 503.
   * @default 134_217_728 (128 MiB)
   */
  readonly openBytes: number;
  /** From a connection's first byte to the end of the headers. Ms. @default 10_000 */
  readonly headersMs: number;
  /** From a connection's first byte to the end of the body. Ms. @default 30_000 */
  readonly requestMs: number;
  /** Connections at once; more are closed as they come. @default 4096 */
  readonly connections: number;
  /** Between the bytes of `slow-body`. Ms. @default 500 */
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
  port: 'given',
  secrets: 'a list',
  certificate: 'an object',
  script: 'a list',
  forward: 'a function',
  serveOwn: 'a function',
  requireSignature: 'a boolean',
  check: 'a function',
  onRequest: 'a function',
  drained: 'a function',
  onBusy: 'a function',
  onRefused: 'a function',
  limits: 'an object',
  clock: 'an object',
} as const satisfies Record<keyof ReceiverOptions, string>;

const LIMITS = {
  bodyBytes: 'given',
  openBytes: 'given',
  headersMs: 'given',
  requestMs: 'given',
  connections: 'given',
  dripMs: 'given',
} as const satisfies Record<keyof ReceiverLimits, string>;

/** Throws ConfigError for options that are unknown or of another kind, and for secrets that would let nobody in, or everybody. */
export function checkReceiverOptions(options: ReceiverOptions): void {
  checkOptions(options, {
    kinds: KINDS,
    required: ['secrets', 'onRequest'],
    otherNames: { sharedSecret: 'secrets', sharedSecrets: 'secrets', respond: 'script' },
  });
  const { requireSignature, secrets, limits = {} } = options;
  checkOptions(limits, { setting: 'limits', kinds: LIMITS });
  if (requireSignature === true && secrets.length === 0) {
    throw new ConfigError('A signature is required, but there is no secret to check it with', {
      key: 'requireSignature',
      hint: 'give the secret that the sender signs with',
    });
  }
  if (secrets.includes('')) {
    throw new ConfigError('A secret is empty', {
      key: 'secrets',
      hint: 'leave it out to check no signatures',
    });
  }
}
