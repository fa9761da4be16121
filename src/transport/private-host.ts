import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../loopback.ts';
import { bareHost } from './proxy.ts';
import { whyNotPublic } from './public-address.ts';

/** Why the host of a URL is surely not public, in a word or two: it is an address or a loopback name. Looks up no name. */
export function whyPrivateHost(url: URL): string | undefined {
  const host = bareHost(url).replace(/\.$/, '');
  if (isIP(host) !== 0) return whyNotPublic(host);
  return isLoopbackHost(host) ? 'loopback' : undefined;
}

/** The addresses behind a name with why they are not public; undefined when one is, or when the lookup fails. */
export async function whyPrivateName(url: URL): Promise<string | undefined> {
  const found = await lookup(bareHost(url), { all: true }).catch(() => []);
  const reasons = found.map(({ address }) => ({ address, reason: whyNotPublic(address) }));
  if (reasons.length === 0 || reasons.some(({ reason }) => reason === undefined)) return undefined;
  return reasons.map(({ address, reason }) => `${address}: ${reason}`).join(', ');
}
