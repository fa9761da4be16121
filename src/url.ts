import { BlockList, isIP } from 'node:net';

/**
 * Returns the path and query of an http: or https: URL for the request line, unchanged, including dot segments.
 * Percent-encodes only characters that a request target cannot contain (RFC 9112, 3.2.1), and a stray %. A URL object would
 * resolve `/a/../b`.
 */
export function requestTarget(url: string): string {
  const { target } = partsOf(url.trim());
  return percentEncoded(target.startsWith('/') ? target : `/${target.replace(/^\\/, '')}`);
}

/** Percent-encodes a URL as its request does. Does not add a path to a URL without one. */
export function encodedUrl(url: string): string {
  const { origin, target } = partsOf(url);
  return target === '' ? origin : origin + requestTarget(url);
}

/** Splits a list of URLs. A comma is a separator only before http:// or https://, because URLs can contain commas. */
export function splitUrls(text: string): readonly string[] {
  return text.split(/\s*,\s*(?=https?:\/\/)/i);
}

// Follows URL parsers: the slashes after the scheme may be backslashes, too many or too few.
const PARTS = /^([^:/\\?#]*:[/\\]*[^/\\?#]*)([^#]*)/;

function partsOf(url: string): { readonly origin: string; readonly target: string } {
  const [, origin = url, target = ''] = PARTS.exec(url) ?? [];
  return { origin, target };
}

/** Characters that a path and a query cannot contain: all except pchar, / and ? (RFC 3986, 3.3 and 3.4), and a stray %. */
const ILLEGAL = /%(?![0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@/?%]+/gi;

function percentEncoded(target: string): string {
  return target.replace(ILLEGAL, (text) =>
    Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '%$&'),
  );
}

/** How to write the characters of a user or password that end it or break the URL. Undefined if there are none. */
export function userinfoHint(url: string): string | undefined {
  const userinfo = /^[^:/?#]*:\/\/(.*)@/s.exec(url)?.[1] ?? '';
  const found = [...new Set(userinfo.match(/%(?![0-9a-f]{2})|[#/?@[\]\\\s]/gi))];
  const forms = found.map((each) => `${each === ' ' ? 'a space' : each} as ${encodeURIComponent(each)}`);
  return found.length === 0 ? undefined : `in its user and password, write ${forms.join(', ')}`;
}

let loopbackAddresses: BlockList | undefined;

/**
 * Whether a host is always this machine: `localhost` and its subdomains (RFC 6761, 6.3), 127.0.0.0/8 and ::1. Accepts a name
 * or an address, in upper or lower case, with or without the brackets of IPv6 addresses in URLs and the final dot of a
 * complete name. An IPv4-mapped address counts as its IPv4 address. Does not resolve names.
 */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const family = isIP(bare);
  if (family === 0) return /^(?:.+\.)?localhost$/i.test(bare);
  return addressList().check(bare, family === 6 ? 'ipv6' : 'ipv4');
}

/** Creates the list of loopback addresses on first use, because a command that sends without a proxy does not need it. */
function addressList(): BlockList {
  if (loopbackAddresses) return loopbackAddresses;
  loopbackAddresses = new BlockList();
  loopbackAddresses.addSubnet('127.0.0.0', 8);
  loopbackAddresses.addAddress('::1', 'ipv6');
  return loopbackAddresses;
}

/** The host of a URL for the resolver: an IPv6 address without its brackets. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf({ port, protocol }: URL): string {
  return port || (PORTS[protocol.replace(/^postgresql:/, 'postgres:')] ?? '80');
}

/** The ports of URLs that do not name one. */
const PORTS: Readonly<Record<string, string>> = {
  'https:': '443',
  'redis:': '6379',
  'rediss:': '6379',
  'postgres:': '5432',
};
