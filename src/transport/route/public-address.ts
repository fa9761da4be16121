import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { isLoopbackHost, bareHost } from '../../url.ts';

/**
 * Returns in a word or two why an address is not public. Undefined if it is public. Rejects all special-purpose blocks of
 * IANA's registries, even those that can be reached from anywhere (AS112, AMT, 6to4, Teredo): they have no webhook
 * receivers. An address rejected by mistake gets a clear error, but one accepted by mistake gets none. Accepts the public
 * addresses of this machine and a network's own NAT64 prefix, because these look like any other address.
 */
export function whyNotPublic(address: string): string | undefined {
  if (isIP(address) === 0) return 'not an IP address';
  // process() converts an IPv4-mapped IPv6 address to the IPv4 address that a connection would use.
  const parsed = ipaddr.process(plain(address));
  if (METADATA.has(parsed.toString())) return 'cloud metadata';
  return parsed instanceof ipaddr.IPv4 ? whyNotPublicV4(parsed) : whyNotPublicV6(parsed);
}

/** Removes the zone of an IPv6 address. Makes `::1.2.3.4` `0::1.2.3.4`, because ipaddr.js reads it as `::ffff:1.2.3.4`. */
function plain(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::(?=\d+\.)/, '0::');
}

/**
 * The metadata addresses of clouds, which serve credentials. Only Azure's looks public; the others are listed to be named as
 * metadata in the error.
 */
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

/** The prefix with which a network without IPv4 reaches the IPv4 internet (RFC 6052, 2.1). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** All public IPv6 addresses assigned so far (RFC 4291, 2.4). Excludes IPv4-compatible and many obsolete ones. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

function whyNotPublicV6(address: InstanceType<typeof ipaddr.IPv6>): string | undefined {
  if (address.match(NAT64)) return whyNotPublic(address.toByteArray().slice(-4).join('.'));
  const range = address.range();
  if (range === 'unicast' && address.match(GLOBAL_UNICAST)) return undefined;
  return WORDS[range] ?? 'reserved';
}

/**
 * Returns in a word or two why the host of a URL is not public: it is an address that is not public, or a loopback name.
 * Undefined for any other host. Does not look up names.
 */
export function whyPrivateHost(url: URL): string | undefined {
  const host = bareHost(url).replace(/\.$/, '');
  if (isIP(host) !== 0) return whyNotPublic(host);
  return isLoopbackHost(host) ? 'loopback' : undefined;
}

/**
 * Returns the addresses of a host name, each with the reason why it is not public. Undefined if one of them is public or the
 * lookup fails.
 */
export async function whyPrivateName(url: URL): Promise<string | undefined> {
  const found = await lookup(bareHost(url), { all: true }).catch(() => []);
  const reasons = found.map(({ address }) => ({ address, reason: whyNotPublic(address) }));
  if (reasons.length === 0 || reasons.some(({ reason }) => reason === undefined)) return undefined;
  return reasons.map(({ address, reason }) => `${address}: ${reason}`).join(', ');
}
