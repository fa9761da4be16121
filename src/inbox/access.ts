import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { PROXY_HEADER } from '../receiver/response/forwarding.ts';
import { isLoopbackHost } from '../url.ts';
import type { InboxRequest } from './inbox-request.ts';

/** The address and the tokens of an inbox. */
export interface AccessRule {
  /** Host that the receiver listens on. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  /**
   * Token of a page that was opened without the printed token. Allows only to read requests, because any program of this
   * machine can open such a page.
   */
  readonly token: string;
  /**
   * Token that is only in the address printed by `hooks listen`. Allows actions, and shows expected signatures, with which
   * requests could be forged.
   */
  readonly printedToken: string;
}

/** Returns why a request is rejected, whether it asks for the page or comes from the page. Undefined if it is allowed. */
export function accessRejection(visit: InboxRequest, rule: AccessRule): string | undefined {
  const { headers, method } = visit.request;
  const rejection = hostRejection(headers, rule);
  if (rejection !== undefined) return rejection;
  if (visit.path === '') return pageRejection(visit, rule);
  return tokenRejection(visit, rule) ?? (method === 'POST' ? originRejection(headers, rule) : undefined);
}

/** Whether a request has the printed token: it opens the printed address, or it is from a page opened by that address. */
export function hasPrintedToken(visit: InboxRequest, { printedToken }: AccessRule): boolean {
  return isToken(givenToken(visit), printedToken);
}

/**
 * Returns why the Host of a request is rejected. Serves only names of this machine and IP addresses, because another site
 * can point its own name to this machine (DNS rebinding), and its page would then have the origin of the inbox.
 */
function hostRejection(headers: IncomingHttpHeaders, { host }: AccessRule): string | undefined {
  const name = hostName(headers.host ?? '');
  if (name === host.toLowerCase() || isLoopbackHost(name)) return undefined;
  // A receiver on all addresses accepts any IP address as Host: another site can point only a name to this machine, not an
  // address.
  if ((host === '0.0.0.0' || host === '::') && isIP(name) !== 0) return undefined;
  return 'this host name does not belong to the inbox: open the address that `hooks listen` printed';
}

/**
 * Returns why the page is not served. The page contains a token, so a request for the page without a token must come from
 * this machine, not through a tunnel.
 */
function pageRejection({ request, query }: InboxRequest, rule: AccessRule): string | undefined {
  if (isAnyToken(query.get('token'), rule)) return undefined;
  const isProxied = Object.keys(request.headers).some((name) => PROXY_HEADER.test(name));
  if (isLoopbackHost(request.socket.remoteAddress ?? '') && !isProxied) return undefined;
  return 'from another machine the inbox needs its token: open the whole address that `hooks listen` printed';
}

/**
 * Returns why a request of the page is rejected: its token is missing or wrong. Other sites cannot know the token. The token
 * is in a header, or for the stream of events in the query string.
 */
function tokenRejection(visit: InboxRequest, rule: AccessRule): string | undefined {
  return isAnyToken(givenToken(visit), rule)
    ? undefined
    : 'the token is missing or from an earlier start: reload the page';
}

/** Returns why an action is rejected: it is not from the page itself. */
function originRejection(headers: IncomingHttpHeaders, { scheme }: AccessRule): string | undefined {
  return headers.origin === `${scheme}://${headers.host}`
    ? undefined
    : 'this request comes from another page';
}

/** The host of a Host header, without the port and the brackets of an IPv6 address. */
function hostName(header: string): string {
  return /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.toLowerCase())?.slice(1).find(Boolean) ?? '';
}

function givenToken({ request: { headers }, query }: InboxRequest): string | null {
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
