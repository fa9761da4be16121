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

/** What the diagnosis of a mismatch may know of secrets besides those that are accepted. */
export type SecretsForDiagnosis = Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>;

export interface ReceiverOptions {
  /** A name or address of this machine. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** 0 to 65,535; 0 takes a free one. @default 0 */
  readonly port?: number | undefined;
  /** A signature made with any of them is valid. Empty: signatures are not checked. */
  readonly secrets: readonly string[];
  /** The signature schemes that are accepted, by name, or schemes of one's own; see `verify`. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
  /**
   * Takes the schemes from the headers that came, among these and those built in, where `scheme` names none: to show what came. It
   * proves nothing, since the sender chooses. @default false
   */
  readonly detectSchemes?: readonly SignatureScheme[] | false | undefined;
  /** What a diagnosis may know besides. @default nothing */
  readonly knownSecrets?: SecretsForDiagnosis | undefined;
  /** The certificate to speak TLS with. @default plain HTTP */
  readonly certificate?: ServerCertificate | undefined;
  /** The responses to accepted POSTs. @default the response of `forward`; without it always 200 */
  readonly script?: Script | undefined;
  /** Forwards accepted POSTs before responding. @default nothing is forwarded */
  readonly forward?: Forward | undefined;
  /** Responds to requests that are not webhooks (the inbox). Returns true for a request it serves, which is then neither reported nor counted. */
  readonly serveOwn?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Responds 401 to a request whose signature is not valid; needs a secret. Such a request uses no step of the script. @default false */
  readonly requireSignature?: boolean | undefined;
  /** Returns what is wrong with a body as a message, or undefined. The sentence becomes `problem`. */
  readonly check?: (body: Uint8Array) => string | undefined;
  /** Called once per request, just before its response is sent. Must not throw. */
  readonly onRequest: (request: ReceivedRequest) => void;
  /** Called for each preflight of a call, by which a browser asks whether a page may send it. Must not throw. */
  readonly onPreflight?: () => void;
  /**
   * Returns what a response waits for after its request is reported, when the reader of the reports is slower than the senders.
   * Undefined: nothing to wait for. @default responses never wait
   */
  readonly drained?: () => Promise<unknown> | undefined;
  /** Called with true when a request arrives and no other is open, with false when the last is reported or rejected. Must not throw. */
  readonly onBusy?: (isBusy: boolean) => void;
  /** Called for input that never became a request. Must not throw. */
  readonly onRefused?: ((rejection: ConnectionRejection) => void) | undefined;
  readonly limits?: Partial<ReceiverLimits> | undefined;
  readonly clock?: Clock | undefined;
}

/** A key and its certificate, both as PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

/** Input to the port that is no complete request: too large, too slow, malformed, cut off, or beyond the connection limit. */
export interface ConnectionRejection {
  /** Ms since the epoch. */
  readonly at: number;
  /** Undefined if no response could be sent. */
  readonly status: number | undefined;
  /** Part of a sentence, safe to show. */
  readonly reason: string;
}

export interface ReceiverLimits {
  /** The largest body; a larger one gets 413. @default 10_485_760 (10 MiB) */
  readonly bodyBytes: number;
  /**
   * The most bytes in the bodies of all requests that are being read, held or forwarded, over all connections; a request beyond it gets 503.
   * @default 134_217_728 (128 MiB)
   */
  readonly openBytes: number;
  /** The longest time from a connection's first byte to the end of the headers. Ms. @default 10_000 */
  readonly headersMs: number;
  /** The longest time from a connection's first byte to the end of the body. Ms. @default 30_000 */
  readonly requestMs: number;
  /** The most connections at once; further ones are closed at once. @default 4096 */
  readonly connections: number;
  /** The time between the bytes of `slow-body`. Ms. @default 500 */
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

const LIMITS = {
  bodyBytes: 'given',
  openBytes: 'given',
  headersMs: 'given',
  requestMs: 'given',
  connections: 'given',
  dripMs: 'given',
} as const satisfies Record<keyof ReceiverLimits, string>;

/** Throws ConfigError for options that are unknown or of another kind, and for secrets that no sender, or any sender, could sign with. */
export function validateReceiverOptions(options: ReceiverOptions): void {
  validateOptions(options, {
    kinds: KINDS,
    required: ['secrets', 'onRequest'],
    otherNames: { sharedSecret: 'secrets', sharedSecrets: 'secrets', respond: 'script' },
  });
  const { requireSignature, secrets, limits = {} } = options;
  validateOptions(limits, { setting: 'limits', kinds: LIMITS });
  if (requireSignature === true && secrets.length === 0) {
    throw new ConfigError('Expected a secret to check the required signatures with, got none', {
      key: 'requireSignature',
      hint: 'give the secret that the sender signs with',
    });
  }
  if (secrets.some(isBlankSecret)) {
    throw new ConfigError('Expected `secrets` to hold no blank secret, got one', {
      key: 'secrets',
      hint: 'leave `secrets` empty to check no signatures',
    });
  }
}
