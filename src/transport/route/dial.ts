import { connect, isIP, Socket, type LookupFunction } from 'node:net';
import type { ConnectionOptions, PeerCertificate, SecureContext, TLSSocket } from 'node:tls';
import { blockedHost, guardedLookup, type AddressRule } from './address-guard.ts';
import { PROXY_REFUSED } from '../network-error.ts';
import type { Proxy } from './proxy.ts';
import { bareHost, portOf } from '../../url.ts';

/** Callback that gets a connection that is ready for a request, or the error. Called at most once. */
export type Dialled = (...outcome: [null, Socket] | [Error, null]) => void;

/**
 * Opens a connection and returns its socket at once, so that an attempt that times out can destroy the socket: undici cannot
 * close a connection that is still being opened, and would leave it to the system's timeout of two minutes.
 */
export type Dial = (dialled: Dialled) => Socket;

export interface DialOptions {
  /** Creates the TLS context. Called only for TLS, because this takes longer than a request. */
  readonly secureContext: () => SecureContext;
  /** Looks up the addresses of a host name. Not called for a host that is an address. */
  readonly lookup?: LookupFunction | undefined;
  /** The rule for the addresses to connect to. @default all addresses are allowed */
  readonly addressRule?: AddressRule | undefined;
}

export function directDial(origin: URL, { secureContext, lookup: given, addressRule }: DialOptions): Dial {
  const host = bareHost(origin);
  const error = addressRule && blockedHost(host, addressRule);
  if (error) return (dialled) => failedDial(error, dialled);
  const lookup = addressRule ? guardedLookup(addressRule, given) : given;
  const address = { host, port: Number(portOf(origin)), ...(lookup && { lookup }) };
  const secure = origin.protocol === 'https:';
  const tlsOptions = secure && { ...address, ...securityFor(origin, secureContext()) };
  return (dialled) => {
    const socket = tlsOptions ? tls().connect(tlsOptions) : connect(address);
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    report(socket, secure, dialled, host);
    return socket;
  };
}

/** Modules are loaded when used: plain HTTP without a proxy needs neither `node:tls` nor `node:http`. */

function tls(): typeof import('node:tls') {
  return process.getBuiltinModule('node:tls');
}

function http(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}

/** Returns a socket that fails with `error`, as if a connection had failed, without connecting. */
function failedDial(error: Error, dialled: Dialled): Socket {
  const socket = new Socket();
  report(socket, false, dialled);
  return socket.destroy(error);
}

/** Connects to an https: origin through a tunnel of a proxy (RFC 9110, 9.3.6). */
export function tunnelDial(origin: URL, proxy: Proxy, options: DialOptions): Dial {
  const dialProxy = directDial(proxy.origin, options);
  const security = securityFor(origin, options.secureContext());
  return (dialled) =>
    dialProxy((error, socket) => {
      if (error) return dialled(withCause(error, PROXY_GARBAGE, /^(?:ERR_SSL_WRONG_VERSION|EPROTO)/), null);
      askForTunnel(origin, proxy, socket, (tunnelError) => {
        if (tunnelError) return dialled(withCause(tunnelError, PROXY_GARBAGE, /^HPE_/), null);
        const tunnelled: Dialled = (tlsError, open) =>
          tlsError
            ? dialled(withCause(tlsError, 'tunnel-no-tls', /^ERR_SSL_WRONG_VERSION/), null)
            : dialled(null, open);
        report(tls().connect({ ...security, socket }), true, tunnelled, security.host);
      });
    });
}

const PROXY_GARBAGE = 'proxy-garbage';

/** Adds `hooksCause`, which is more exact than the code, to an error whose code matches `codes`. */
function withCause(error: Error, hooksCause: string, codes: RegExp): Error {
  const code = 'code' in error ? String(error.code) : '';
  return codes.test(code) ? Object.assign(error, { hooksCause }) : error;
}

/**
 * Returns the TLS options. Sets all of them explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the defaults. An IP
 * address must not be a server name (RFC 6066, 3).
 */
function securityFor(origin: URL, secureContext: SecureContext): ConnectionOptions {
  const host = bareHost(origin);
  return {
    host,
    servername: isIP(host) === 0 ? host : '',
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  };
}

/** Codes of the errors for a connection that breaks during the TLS handshake. */
const BROKEN_OFF = /^(?:ECONNRESET|EPIPE|ECONNABORTED)$/;

/**
 * Calls `dialled` when the socket is connected or has failed. Keeps the error listener after that, because undici adds its
 * own only when it gets the socket.
 */
function report(socket: Socket, secure: boolean, dialled: Dialled, host = ''): void {
  let isOpen = true;
  let presented: PeerCertificate | undefined;
  // Reads the certificate before Node rejects it, because that closes the connection. Does not use getPeerX509Certificate,
  // after which Node 20 finds no names in the certificate.
  if (secure) {
    const read = (): void => void (presented = (socket as TLSSocket).getPeerCertificate(true)); // TLS, because it is secure
    socket.prependOnceListener('secure', read);
  }
  const once: Dialled = (...outcome) => {
    if (isOpen) dialled(...outcome);
    isOpen = false;
  };
  socket.once(secure ? 'secureConnect' : 'connect', () => once(null, socket));
  socket.on('error', (error) => {
    if (isOpen && presented !== undefined) Object.assign(error, { presented, presentedFor: host });
    once(secure && isOpen ? withCause(error, 'tls-unfinished', BROKEN_OFF) : error, null);
    // Destroyed, because a TLS alert after the handshake (TLS 1.3 wants a client certificate) leaves the socket open, and
    // undici would then report its end instead of the alert.
    socket.destroy();
  });
}

function askForTunnel(origin: URL, proxy: Proxy, socket: Socket, asked: (error?: Error) => void): void {
  const path = `${origin.hostname}:${portOf(origin)}`;
  const { authorization } = proxy;
  const request = http().request({
    createConnection: () => socket,
    method: 'CONNECT',
    path,
    headers: { host: path, ...(authorization !== undefined && { 'proxy-authorization': authorization }) },
  });
  request.once('connect', ({ statusCode = 0, headers }, _socket, head) => {
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      return asked(proxyErrorOf(statusCode, headers['proxy-authenticate']));
    }
    if (head.length > 0) socket.unshift(head);
    asked();
  });
  request.once('error', asked);
  request.end();
}

/** Creates the error for a failure status of a proxy, which concerns the proxy and not the receiver. */
export function proxyErrorOf(statusCode: number, wanted: string | readonly string[] = ''): Error {
  const message = `the proxy responded with ${statusCode} ${http().STATUS_CODES[statusCode] ?? ''}`.trimEnd();
  return Object.assign(new Error(message), {
    code: PROXY_REFUSED,
    hooksCause: proxyCause(statusCode, String(wanted)),
  });
}

function proxyCause(statusCode: number, wanted: string): string {
  const isOther = /\b(?:NTLM|Negotiate|Kerberos)\b/i.test(wanted) && !/\bBasic\b/i.test(wanted);
  if (statusCode === 407) return isOther ? 'proxy-ntlm' : 'proxy-authentication';
  return statusCode >= 500 ? 'proxy-failed' : 'proxy-forbids';
}
