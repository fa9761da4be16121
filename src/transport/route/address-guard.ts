import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopbackHost } from '../../url.ts';
import { BLOCKED_ADDRESS } from '../network-error.ts';

/** Says in a word or two why an address may not be connected to; undefined when it may. */
export type AddressRule = (address: string) => string | undefined;

/** Why an address does not belong to this machine alone; undefined when it does. IPv4-mapped ones count as what they map. */
export function whyNotLoopback(address: string): string | undefined {
  return isLoopbackHost(address) ? undefined : 'not loopback';
}

/** The error for a host that is itself an address against the rule. A connection to an address asks no lookup. */
export function blockedHost(host: string, rule: AddressRule): Error | undefined {
  const reason = isIP(host) === 0 ? undefined : rule(host);
  return reason === undefined ? undefined : blocked(`${host} (${reason})`);
}

/**
 * A lookup that keeps to itself the addresses that are against the rule. A connection is made to the addresses of its one lookup and
 * to no others, so what is judged is what is connected to: whatever the next lookup of the name returns, and whichever address comes first
 * (happy eyeballs). Where only some are rejected the rest is used: a name may well have a unique-local address besides its public one.
 */
export function guardedLookup(
  rule: AddressRule,
  lookup: LookupFunction = process.getBuiltinModule('node:dns').lookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(
      // Some resolvers ask the network for names below `localhost` and believe what it says.
      isLoopbackHost(hostname) ? 'localhost' : hostname,
      { ...options, all: true },
      (error, found, family) => {
        if (error) return callback(error, []);
        const addresses = typeof found === 'string' ? [{ address: found, family: family ?? 4 }] : found;
        const allowed = addresses.filter(({ address }) => rule(address) === undefined);
        const [first] = allowed;
        if (first === undefined && addresses.length > 0) callback(blockedName(hostname, addresses, rule), []);
        else if (options.all || first === undefined) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
    );
  };
}

function blockedName(hostname: string, addresses: readonly LookupAddress[], rule: AddressRule): Error {
  const listed = addresses.map(({ address }) => `${address} (${rule(address)})`);
  const what = listed.length === 1 ? 'the address' : 'the addresses';
  return blocked(`${listed.join(' and ')}, ${what} of ${hostname},`);
}

function blocked(what: string): Error {
  return Object.assign(new Error(`no connection to ${what} without --allow-private`), {
    code: BLOCKED_ADDRESS,
  });
}
