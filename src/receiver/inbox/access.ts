import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../loopback.ts';

export interface AccessRule {
  /** What the receiver listens on. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly token: string;
}

/**
 * Why a request for anything of the inbox is refused. A page of another site may have its name lead here (DNS rebinding),
 * and then passes for this one: only names that are ours, or no names at all, are served.
 */
export function hostRejection(headers: IncomingHttpHeaders, { host }: AccessRule): string | undefined {
  const name = hostName(headers.host ?? '');
  if (name === host.toLowerCase() || isLoopbackHost(name)) return undefined;
  // Who listens on all addresses is reached by any of them; a name is the only thing that can be made to lead here.
  if (isWildcard(host) && isIP(name) !== 0) return undefined;
  return 'this name does not lead to the inbox: open it by the address that `hooks listen` printed';
}

/** The page carries the token, so who gets it without one has to sit at this machine, and not behind a tunnel to it. */
export function pageRejection(
  { headers, socket }: IncomingMessage,
  query: URLSearchParams,
  rule: AccessRule,
): string | undefined {
  if (isToken(query.get('token'), rule)) return undefined;
  const isPassedOn = PASSED_ON.some((name) => headers[name] !== undefined);
  if (isLoopbackHost(socket.remoteAddress ?? '') && !isPassedOn) return undefined;
  return 'from elsewhere the inbox is opened with its token: take the whole address that `hooks listen` printed';
}

/** Of what the page fetches: the token, which another site cannot know, stands in a header, or for events in the query. */
export function tokenRejection(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  rule: AccessRule,
): string | undefined {
  const given = headers['x-hooks-token'] ?? query.get('token');
  return typeof given === 'string' && isToken(given, rule)
    ? undefined
    : 'the token is missing or of an earlier start: reload the page';
}

/** An action comes from the page itself. */
export function originRejection(headers: IncomingHttpHeaders, { scheme }: AccessRule): string | undefined {
  return headers.origin === `${scheme}://${headers.host}` ? undefined : 'this comes from another page';
}

/** What proxies and tunnels add. */
const PASSED_ON = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether people reach it from other machines by whatever address it has. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Of a Host header: without the port and the brackets of an IPv6 address. */
function hostName(header: string): string {
  return /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.toLowerCase())?.slice(1).find(Boolean) ?? '';
}

function isToken(given: string | null, { token }: AccessRule): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}
