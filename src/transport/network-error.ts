import type { DetailedPeerCertificate } from 'node:tls';
import { printable } from '../redact.ts';
import { causeOfCertificate, certificateText } from './rejected-certificate.ts';
import type { ConnectionOptions, NetworkError, NetworkFailure } from './transport.ts';

/** The `code` of a `lookup` error for an address that is not allowed. */
export const BLOCKED_ADDRESS = 'ERR_HOOKS_BLOCKED_ADDRESS';
/** The `code` of the error for a proxy that rejected the request or the tunnel. */
export const PROXY_REFUSED = 'ERR_HOOKS_PROXY_REFUSED';
const MALFORMED_RESPONSE = 'ERR_HOOKS_MALFORMED_RESPONSE';
const CUT = 'ERR_HOOKS_CUT_RESPONSE';
/** Codes of this program's own errors, whose messages are shown as they are, because they say what happened. */
const TELLING_CODES: ReadonlySet<string> = new Set([BLOCKED_ADDRESS, PROXY_REFUSED, MALFORMED_RESPONSE]);

/** Part of undici's message for a response that does not start with `HTTP/`. */
const NOT_HTTP = 'Expected HTTP/';
const MALFORMED = 'malformed-http';

const TLS_FAILED = 'the TLS connection failed';

/**
 * Errors of the system, of TLS (Node's documentation, "X509 certificate error codes") and of undici, by their `code`.
 * `refused`: the receiver was not reached, and nothing was sent. `reset`: the connection broke, and the receiver may have
 * the message.
 */
const BY_CODE: Readonly<Record<string, readonly [error: NetworkError, words: string, cause?: string]>> = {
  ECONNREFUSED: ['refused', 'the connection was refused'],
  EHOSTUNREACH: ['refused', 'the host cannot be reached', 'unreachable'],
  EHOSTDOWN: ['refused', 'the host is down', 'unreachable'],
  ENETUNREACH: ['refused', 'the network cannot be reached', 'no-network'],
  ENETDOWN: ['refused', 'the network is down', 'no-network'],
  EADDRNOTAVAIL: ['refused', 'no local address or port is left for a connection', 'no-ports'],
  EACCES: ['refused', 'this machine does not allow the connection', 'not-allowed'],
  EPERM: ['refused', 'this machine does not allow the connection', 'not-allowed'],
  EMFILE: ['refused', 'this process has too many files and connections open', 'too-many-files'],
  ENFILE: ['refused', 'this machine has too many files and connections open', 'too-many-files'],
  [PROXY_REFUSED]: ['refused', 'the proxy refused'],
  ETIMEDOUT: ['timeout', 'the system gave up waiting for a connection', 'no-connection-in-time'],

  ENOTFOUND: ['dns', 'the host name does not exist'],
  ENODATA: ['dns', 'the host name has no address'],
  EAI_AGAIN: ['dns', 'the name lookup failed temporarily', 'dns-for-now'],
  EAI_FAIL: ['dns', 'the name lookup failed'],
  EAI_NODATA: ['dns', 'the host name has no address'],
  EAI_NONAME: ['dns', 'the host name does not exist'],
  ESERVFAIL: ['dns', 'the name server failed', 'dns-for-now'],

  ECONNRESET: ['reset', 'the connection was reset before the response'],
  ECONNABORTED: ['reset', 'the connection was aborted before the response'],
  EPIPE: ['reset', 'the connection was closed while the request was written'],
  UND_ERR_SOCKET: ['reset', 'the connection was closed before the response'],

  UND_ERR_HEADERS_OVERFLOW: ['protocol', 'the response has more than 16 KB of headers', 'headers-overflow'],
  [MALFORMED_RESPONSE]: ['protocol', 'the response does not match HTTP'],
  // The message is a line of undici's source.
  ERR_ASSERTION: ['protocol', 'the response is nothing that undici expects'],

  DEPTH_ZERO_SELF_SIGNED_CERT: ['tls-self-signed', 'the certificate is self-signed'],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'tls-self-signed',
    'the chain ends in a self-signed certificate that is not trusted',
  ],
  CERT_HAS_EXPIRED: ['tls-expired', 'the certificate has expired'],
  CERT_NOT_YET_VALID: ['tls-expired', 'the certificate is not valid yet', 'tls-early'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['tls-hostname', 'the certificate is for another name'],
  HOSTNAME_MISMATCH: ['tls-hostname', 'the certificate is for another name'],
  // OpenSSL's error for a certificate that came without that of its issuer.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['tls-untrusted', "the certificate's issuer is unknown", 'tls-chain'],
  UNABLE_TO_GET_ISSUER_CERT: ['tls-untrusted', "the certificate's issuer is unknown"],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['tls-untrusted', "the certificate's issuer is unknown"],
  CERT_UNTRUSTED: ['tls-untrusted', 'the certificate is not trusted'],
  CERT_REJECTED: ['tls-untrusted', 'the certificate is not trusted'],
  CERT_REVOKED: ['tls-untrusted', 'the certificate was revoked', 'tls-rejected'],
  CERT_SIGNATURE_FAILURE: ['tls-untrusted', "the certificate's signature is wrong", 'tls-rejected'],
  CERT_CHAIN_TOO_LONG: ['tls-untrusted', 'the certificate chain is too long', 'tls-rejected'],
  INVALID_CA: ['tls-untrusted', 'a certificate of the chain may not issue others', 'tls-rejected'],
  INVALID_PURPOSE: ['tls-untrusted', 'the certificate is not for servers', 'tls-rejected'],
  PATH_LENGTH_EXCEEDED: [
    'tls-untrusted',
    'the certificate chain is longer than its issuer allows',
    'tls-rejected',
  ],
  EPROTO: ['tls', TLS_FAILED],

  [BLOCKED_ADDRESS]: ['blocked-address', 'the address may not be connected to'],
  [CUT]: ['aborted', 'the connection was cut at the first byte of the response'],
};

/** The error of a connection that was destroyed because its request has `cutsResponse`. */
export const CUT_RESPONSE: Error = Object.assign(new Error('cut'), { code: CUT });

/** Details of a broken response, by undici's message: undici uses the code of a closed connection for all of them. */
const UNREADABLE_RESPONSES: Readonly<Record<string, string>> = {
  'bad response': 'the response came unasked, or was an unasked 100 Continue',
  'bad upgrade': 'the response switches to another protocol',
};

interface SystemError extends Error {
  readonly code?: unknown;
  readonly reason?: unknown;
  /** A cause that is more exact than `code`. Only this program's own errors have it. */
  readonly hooksCause?: string;
  /** The certificate that the server presented in the TLS handshake that failed. It is not trusted. */
  readonly presented?: DetailedPeerCertificate | undefined;
  /** The host that the certificate must name. */
  readonly presentedFor?: string;
}

/** Creates the error for a response that breaks HTTP although undici's parser accepts it. `detail` says how, for people. */
export function malformedResponse(detail: string): Error {
  return Object.assign(new Error(detail), { code: MALFORMED_RESPONSE });
}

export function networkFailure(cause: unknown): NetworkFailure {
  const failure = mostTelling(cause);
  const unreadable = UNREADABLE_RESPONSES[failure.message];
  if (unreadable !== undefined) return { error: 'protocol', detail: unreadable, cause: MALFORMED };
  if (failure.name === 'ResponseContentLengthMismatchError') {
    return {
      error: 'protocol',
      detail: `${failure.message} (a response in chunks must have none)`,
      cause: MALFORMED,
    };
  }
  if (failure.name === 'HTTPParserError') {
    const isHttp = !failure.message.includes(NOT_HTTP);
    return { error: 'protocol', detail: printable(failure.message), ...(isHttp && { cause: MALFORMED }) };
  }
  const code = typeof failure.code === 'string' ? failure.code : '';
  const [error, words, ofCode] = BY_CODE[code] ?? otherwise(failure, code);
  const known =
    failure.hooksCause ??
    (failure.presented && causeOfCertificate(failure.presented, failure.presentedFor, error)) ??
    ofCode;
  return {
    error,
    detail: printable(detailOf(failure, code, words)),
    ...(known !== undefined && { cause: known }),
  };
}

/**
 * Classifies a code that BY_CODE does not list: a rejected certificate if the server presented one; a TLS failure if the code
 * is from OpenSSL, which has one for each of its hundreds of reasons, or from Node's TLS; else a broken connection. Only a
 * server that speaks TLS sends an alert.
 */
function otherwise(
  { presented, message }: SystemError,
  code: string,
): readonly [NetworkError, string, (string | undefined)?] {
  if (presented !== undefined) return ['tls-untrusted', message, 'tls-rejected'];
  if (!/^ERR_(SSL|TLS|OSSL)_/.test(code)) return ['reset', ''];
  return ['tls', TLS_FAILED, TLS_CAUSES.find(([pattern]) => pattern.test(code))?.[1]];
}

/** Causes by the codes of OpenSSL, whose names differ between versions of Node. */
const TLS_CAUSES: readonly (readonly [RegExp, string])[] = [
  [/WRONG_VERSION_NUMBER/, 'no-tls'],
  [/UNSUPPORTED_PROTOCOL|ALERT_PROTOCOL_VERSION/, 'tls-old'],
  [/KEY_TOO_SMALL|MD_TOO_WEAK/, 'tls-weak'],
  [/ALERT_HANDSHAKE_FAILURE/, 'tls-handshake'],
  [/ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE)/, 'client-certificate'],
  [/NO_APPLICATION_PROTOCOL/, 'tls-no-http1'],
  [/_ALERT_|UNRECOGNIZED_NAME/, 'tls-alert'],
];

/** Adds to a failure what it does not know: the proxy as displayed, if there is one, and the trusted issuers of the user. */
export function onRoute(
  failure: NetworkFailure,
  via: string | undefined,
  { caFile }: ConnectionOptions = {},
): NetworkFailure {
  const { error, cause, detail } = failure;
  if ((cause === 'tls-chain' || cause === 'tls-private') && caFile !== undefined) {
    return { ...failure, cause: 'tls-chain-between' };
  }
  if (via === undefined) return failure;
  const isBefore = /^(?:refused|dns|dns-for-now|no-connection-in-time|unreachable)$/.test(cause ?? error);
  const more = isBefore ? { cause: 'proxy-unreachable' } : {};
  return { ...failure, detail: `${detail}, through the proxy ${via}`, ...more };
}

/** Whether the error is a broken connection: often an idle connection that the server closed while a request was sent. */
export function isBrokenOff(cause: unknown): boolean {
  return networkFailure(cause).error === 'reset';
}

/** Whether undici rejected the request before sending it: a header or URL that HTTP does not allow. */
export function isUnsendable({ name }: Error): boolean {
  return name === 'InvalidArgumentError' || name === 'NotSupportedError';
}

/**
 * Returns the most informative error, if the connection failed at several addresses (happy eyeballs). A timeout of 250 ms
 * per address is the least informative.
 */
function mostTelling(cause: unknown): SystemError {
  const failure: SystemError = cause instanceof Error ? cause : new Error(String(cause));
  if (!(failure instanceof AggregateError) || failure.errors.length === 0) return failure;
  const failures = failure.errors.map(mostTelling);
  return failures.find(({ code }) => code !== 'ETIMEDOUT') ?? failures[0] ?? failure;
}

function detailOf(failure: SystemError, code: string, words: string): string {
  if (words === '') return failure.message;
  if (TELLING_CODES.has(code)) return failure.message || words;
  if (failure.presented !== undefined) {
    return `${words} (${code})${certificateText(failure.presented, code, failure.presentedFor)}`;
  }
  if (words === TLS_FAILED) return `${words} (${reasonOf(failure, code)})`;
  const { address, port, hostname } = failure as { address?: string; port?: number; hostname?: string }; // fields that Node adds to errors of sockets
  const where = address === undefined ? hostname : `${address}:${port}`;
  return `${words} (${where === undefined ? code : `${code} ${where}`})`;
}

/** Returns OpenSSL's reason. Its message is not shown, because it consists of addresses and line numbers. */
function reasonOf({ reason }: SystemError, code: string): string {
  return typeof reason === 'string' ? reason : code;
}
