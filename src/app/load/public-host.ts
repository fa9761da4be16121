import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { bareHost, isLoopbackHost } from '../../url.ts';
import { proxyFor } from '../../transport/route/proxy.ts';
import { whyNotPublic } from '../../transport/route/public-address.ts';

/**
 * Returns the host of a URL with its address if the host is public. Looks the name up. A host behind a proxy counts as public
 * unless it is a private address itself, because the proxy does the lookup. A name that cannot be looked up now also counts as
 * public, because a later lookup may succeed.
 */
export async function publicHostOf(
  url: URL,
  proxyEnv: Readonly<NodeJS.ProcessEnv>,
): Promise<string | undefined> {
  const host = bareHost(url).replace(/\.$/, '');
  if (isLoopbackHost(host)) return undefined;
  if (isIP(host) !== 0) return isPrivate(host) ? undefined : host;
  if (proxyFor(url, proxyEnv) !== undefined) return `${host}, through a proxy`;
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0) return `${host}, whose address is unknown`;
  const address = found.find((each) => !isPrivate(each.address));
  return address && `${host}, ${address.address}`;
}

/** Matches results of `whyNotPublic` that count as private. Other special addresses, such as 6to4, can lead to public ones. */
const PRIVATE = /^(?:loopback|private|link-local|unique-local|carrier-grade NAT|unspecified)$/;

function isPrivate(address: string): boolean {
  return PRIVATE.test(whyNotPublic(address) ?? '');
}
