import { BlockList, isIP } from 'node:net';

let loopback: BlockList | undefined;

/** Whether an address (not a name) belongs to this machine alone. IPv4-mapped ones count as what they map. */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopbackList().check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Made when it is asked first: a command that sends without a proxy never does. */
function loopbackList(): BlockList {
  if (loopback) return loopback;
  loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return loopback;
}
