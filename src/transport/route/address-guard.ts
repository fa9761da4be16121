import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopbackHost } from '../../url.ts';
import { BLOCKED_ADDRESS } from '../network-error.ts';

/** Returns in a word or two why no connection to an address is allowed. Undefined if one is allowed. */
export type AddressRule = (address: string) => string | undefined;

/** Returns why an address is not a loopback address. Undefined if it is one. Decodes IPv4-mapped addresses. */
export function whyNotLoopback(address: string): string | undefined {
  return isLoopbackHost(address) ? undefined : 'not loopback';
}

/** Returns the error for a host that is an address which the rule rejects: a connection to an address does no lookup. */
export function blockedHost(host: string, rule: AddressRule): Error | undefined {
  const reason = isIP(host) === 0 ? undefined : rule(host);
  return reason === undefined ? undefined : blocked(`${host} (${reason})`);
}

/**
 * Wraps a lookup to drop the addresses that the rule rejects. A connection uses only the addresses of its one lookup, so no
 * other address can be connected to, whatever a later lookup returns and whichever address comes first (happy eyeballs). If
 * only some addresses are rejected, the rest is used: a name can have a unique-local address besides its public one.
 */
export function guardedLookup(
  rule: AddressRule,
  lookup: LookupFunction = process.getBuiltinModule('node:dns').lookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(
      // Looks up `localhost` itself, because resolvers may ask the network for names below it, such as `a.localhost`.
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
