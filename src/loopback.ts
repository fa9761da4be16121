import { BlockList, isIP } from 'node:net';

let loopbackAddresses: BlockList | undefined;

/**
 * Whether a host belongs to this machine alone: `localhost` and the names below it (RFC 6761, 6.3), 127.0.0.0/8 and ::1.
 * Accepts a name or an address, in any case, with or without the brackets that a URL puts around IPv6 and the final dot of a
 * complete name. An IPv4-mapped address counts as the address that it maps. Looks up no name.
 */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const family = isIP(bare);
  if (family === 0) return /^(?:.+\.)?localhost$/i.test(bare);
  return addressList().check(bare, family === 6 ? 'ipv6' : 'ipv4');
}

/** Made on first use: a command that sends without a proxy never needs it. */
function addressList(): BlockList {
  if (loopbackAddresses) return loopbackAddresses;
  loopbackAddresses = new BlockList();
  loopbackAddresses.addSubnet('127.0.0.0', 8);
  loopbackAddresses.addAddress('::1', 'ipv6');
  return loopbackAddresses;
}
