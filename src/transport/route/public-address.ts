import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { isLoopbackHost, bareHost } from '../../url.ts';

/**
 * Why an address is not one of the public internet, in a word or two; undefined when it is. All special-purpose blocks of IANA's
 * registries are rejected, those too that can be reached from anywhere (AS112, AMT, 6to4, Teredo): no receiver of webhooks lives
 * there, and what is rejected by mistake gets a clear error, unlike what is let through by mistake. Not known here, because they look
 * like any other: the public addresses of this machine itself, and a network's own NAT64 prefix.
 */
export function whyNotPublic(address: string): string | undefined {
  if (isIP(address) === 0) return 'not an IP address';
  // process() makes an IPv4 address of an IPv4-mapped one, because that is what a connection to it is made over.
  const parsed = ipaddr.process(plain(address));
  if (METADATA.has(parsed.toString())) return 'cloud metadata';
  return parsed instanceof ipaddr.IPv4 ? whyNotPublicV4(parsed) : whyNotPublicV6(parsed);
}

/** An address without its zone; and `::1.2.3.4` with the zero that keeps ipaddr.js from taking it for `::ffff:1.2.3.4`. */
function plain(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::(?=\d+\.)/, '0::');
}

/** Where clouds tell a machine its credentials. But for Azure's, which looks public, they are here for the sake of the word. */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '168.63.129.16',
]);

const WORDS: Readonly<Record<string, string>> = {
  unspecified: 'unspecified',
  broadcast: 'broadcast',
  multicast: 'multicast',
  linkLocal: 'link-local',
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'unique-local',
  carrierGradeNat: 'carrier-grade NAT',
};

type IpAddress = InstanceType<typeof ipaddr.IPv4> | InstanceType<typeof ipaddr.IPv6>;

function whyNotPublicV4(address: IpAddress): string | undefined {
  const range = address.range();
  return range === 'unicast' ? undefined : (WORDS[range] ?? 'reserved');
}

/** The translators that a network without IPv4 reaches all of the IPv4 internet by (RFC 6052, 2.1). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** All that has been given out of IPv6 so far (RFC 4291, 2.4). IPv4-compatible addresses and much that is obsolete lie outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

function whyNotPublicV6(address: InstanceType<typeof ipaddr.IPv6>): string | undefined {
  if (address.match(NAT64)) return whyNotPublic(address.toByteArray().slice(-4).join('.'));
  const range = address.range();
  if (range === 'unicast' && address.match(GLOBAL_UNICAST)) return undefined;
  return WORDS[range] ?? 'reserved';
}

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
