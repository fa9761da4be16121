import { isLoopbackHost } from '../loopback.ts';

/** Why an address does not belong to this machine alone; undefined when it does. IPv4-mapped ones count as what they map. */
export function whyNotLoopback(address: string): string | undefined {
  return isLoopbackHost(address) ? undefined : 'not loopback';
}
