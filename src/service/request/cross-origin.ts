import type { IncomingHttpHeaders } from 'node:http';

/** Allows pages of any origin to send: the write key in the page is the permission. Cookies are never allowed. */
export const ANY_ORIGIN = { 'access-control-allow-origin': '*' } as const;

/** The headers of a preflight response. Allows all requested headers, because client libraries send their own. */
export function preflightHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  // The private-network permission: browsers ask for it before a public page may send to a private address.
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
/** A header name: a token (RFC 9110, 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function allowedNames(asked = ''): string {
  const names = asked.split(',').map((name) => name.trim());
  const allowed = names.filter((name) => NAME.test(name)).join(', ');
  return allowed === '' || allowed.length > 1_024 ? USUAL_NAMES : allowed;
}

/**
 * The settings that RudderStack's libraries for browsers and phones load before they send: a source without destinations and
 * metrics.
 */
export const SOURCE_CONFIG = { source: { id: 'hooks', enabled: true, config: {}, destinations: [] } };
