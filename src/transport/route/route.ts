import type { LookupFunction } from 'node:net';
import type { AddressRule } from './address-guard.ts';
import { directDial, tunnelDial, type Dial, type DialOptions } from './dial.ts';
import { proxyFor, type Proxy } from './proxy.ts';

/** How requests to one origin travel. */
export interface Route {
  /** What the connection speaks HTTP with: the receiver, or a proxy that forwards. */
  readonly origin: string;
  readonly dial: Dial;
  /** Sent with every request, besides the caller's. Name, value, name, value … */
  readonly headers: readonly string[];
  /** The proxy, without its userinfo. */
  readonly via?: string;
  /** The proxy reads the requests themselves: it wants whole URLs, and a 407 is its own. */
  readonly isForwarded: boolean;
  /** The proxy only carries bytes. */
  readonly isTunnel: boolean;
}

export interface RouteOptions {
  readonly secureContext: DialOptions['secureContext'];
  readonly lookup?: LookupFunction | undefined;
  /** Which addresses may be connected to. What a proxy connects to, and the proxy itself, are the proxy's affair. */
  readonly addressRule?: AddressRule | undefined;
  readonly proxyEnv?: NodeJS.ProcessEnv | undefined;
}

/**
 * https: goes through a tunnel, http: is forwarded, as proxies expect it. Not by undici's ProxyAgent: it keeps hold of nothing that is
 * still connecting, folds repeated headers, and wants a password wherever there is a user.
 */
export function routeTo(url: URL, { proxyEnv, ...options }: RouteOptions): Route {
  const { secureContext } = options;
  const proxy = proxyEnv && proxyFor(url, proxyEnv);
  if (proxy === undefined) {
    const dial = directDial(url, options);
    return { origin: url.origin, dial, headers: [], isForwarded: false, isTunnel: false };
  }
  if (url.protocol === 'http:') return forwarded(url, proxy, secureContext);
  const dial = tunnelDial(url, proxy, { secureContext });
  return {
    origin: url.origin,
    dial,
    headers: [],
    via: proxy.origin.origin,
    isForwarded: false,
    isTunnel: true,
  };
}

function forwarded(
  url: URL,
  { origin, authorization }: Proxy,
  secureContext: DialOptions['secureContext'],
): Route {
  return {
    origin: origin.origin,
    dial: directDial(origin, { secureContext }),
    headers: [
      'host',
      url.host,
      ...(authorization === undefined ? [] : ['proxy-authorization', authorization]),
    ],
    via: origin.origin,
    isForwarded: true,
    isTunnel: false,
  };
}
