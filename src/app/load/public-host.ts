import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { bareHost, isLoopbackHost } from '../../url.ts';
import { proxyFor } from '../../transport/route/proxy.ts';
import { whyNotPublic } from '../../transport/route/public-address.ts';

/**
 * Returns the host of a URL with its address if the host is public. Looks the name up. A host behind a proxy counts as public
 * unless it is a private address itself, because the proxy does the lookup. A name that cannot be looked up is not public.
 */
export async function publicHostOf(
  url: URL,
  proxyEnv: Readonly<NodeJS.ProcessEnv>,
): Promise<string | undefined> {
  const host = bareHost(url).replace(/\.$/, '');
  if (isLoopbackHost(host)) return undefined;
  if (isIP(host) !== 0) return whyNotPublic(host) === undefined ? host : undefined;
  if (proxyFor(url, proxyEnv) !== undefined) return `${host}, through a proxy`;
  const found = await lookup(host, { all: true }).catch(() => []);
  const address = found.find((each) => whyNotPublic(each.address) === undefined);
  return address && `${host}, ${address.address}`;
}
