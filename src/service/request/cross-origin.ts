import type { IncomingHttpHeaders } from 'node:http';

/** Lets a page of any origin send: it may do what the write key in the page may do. Cookies are never allowed. */
export const ANY_ORIGIN = { 'access-control-allow-origin': '*' } as const;

/** The headers of the response to a preflight: client libraries send headers of their own, so what is asked for is allowed. */
export function preflightHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  // A page of the public web asks before it sends to an address of this machine.
  const isPrivate = headers['access-control-request-private-network'] === 'true';
  return {
    ...ANY_ORIGIN,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': allowedNames(headers['access-control-request-headers']),
    'access-control-max-age': '86400',
    ...(isPrivate && { 'access-control-allow-private-network': 'true' }),
  };
}

const USUAL_NAMES = 'authorization, content-type, content-encoding';
/** A token (RFC 9110, 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function allowedNames(asked = ''): string {
  const names = asked.split(',').map((name) => name.trim());
  const allowed = names.filter((name) => NAME.test(name)).join(', ');
  return allowed === '' || allowed.length > 1_024 ? USUAL_NAMES : allowed;
}

/** What RudderStack's libraries for browsers and phones read before they send: a source without destinations or metrics. */
export const SOURCE_CONFIG = { source: { id: 'hooks', enabled: true, config: {}, destinations: [] } };
