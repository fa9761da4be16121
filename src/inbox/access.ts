import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../url.ts';

export interface AccessRule {
  /** What the receiver listens on. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  /** Stands in the page, which any program of this machine can open. */
  readonly token: string;
  /** Stands only in the address that `hooks listen` prints: shows the right signatures too, with which one could sign, and acts. */
  readonly printedToken: string;
}

/**
 * Why the Host of a request to the inbox is rejected. Another site may point its name to this machine (DNS rebinding), and its
 * page then counts as this one: only names of this machine and addresses are served.
 */
export function hostRejection(headers: IncomingHttpHeaders, { host }: AccessRule): string | undefined {
  const name = hostName(headers.host ?? '');
  if (name === host.toLowerCase() || isLoopbackHost(name)) return undefined;
  // A receiver on all addresses is reached by any of them; only a name can be pointed here by another site.
  if (isWildcard(host) && isIP(name) !== 0) return undefined;
  return 'this host name does not belong to the inbox: open the address that `hooks listen` printed';
}

/** Why the page is not served. It contains the token, so a request without one must come from this machine, not through a tunnel. */
export function pageRejection(
  { headers, socket }: IncomingMessage,
  query: URLSearchParams,
  rule: AccessRule,
): string | undefined {
  if (isAnyToken(query.get('token'), rule)) return undefined;
  const isProxied = Object.keys(headers).some((name) => PROXY_HEADER.test(name));
  if (isLoopbackHost(socket.remoteAddress ?? '') && !isProxied) return undefined;
  return 'from another machine the inbox needs its token: open the whole address that `hooks listen` printed';
}

/** Why a request of the page is rejected: the token, which another site cannot know, is in a header, or for events in the query. */
export function tokenRejection(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  rule: AccessRule,
): string | undefined {
  return isAnyToken(givenToken(headers, query), rule)
    ? undefined
    : 'the token is missing or from an earlier start: reload the page';
}

/** Whether a request has the token of the printed address, itself or from a page that was opened with it. */
export function hasPrintedToken(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  { printedToken }: AccessRule,
): boolean {
  return isToken(givenToken(headers, query), printedToken);
}

/** Why an action is rejected that does not come from the page itself. */
export function originRejection(headers: IncomingHttpHeaders, { scheme }: AccessRule): string | undefined {
  return headers.origin === `${scheme}://${headers.host}`
    ? undefined
    : 'this request comes from another page';
}

/** The headers that proxies and tunnels add. */
const PROXY_HEADER = /^(?:forwarded|via|x-forwarded-.+|.+-(?:client|connecting|real)-ip)$/;

/** Whether the receiver listens on all addresses of this machine. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The host of a Host header, without the port and the brackets of an IPv6 address. */
function hostName(header: string): string {
  return /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.toLowerCase())?.slice(1).find(Boolean) ?? '';
}

function givenToken(headers: IncomingHttpHeaders, query: URLSearchParams): string | null {
  const header = headers['x-hooks-token'];
  return typeof header === 'string' ? header : query.get('token');
}

function isAnyToken(given: string | null, { token, printedToken }: AccessRule): boolean {
  return isToken(given, token) || isToken(given, printedToken);
}

function isToken(given: string | null, token: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}
