import { directDial, tunnelDial, type Dial, type DialOptions } from './dial.ts';
import { proxyFor } from './proxy.ts';

/** The way of requests to one origin: direct or through a proxy. */
export interface Route {
  /** `forwarded`: a proxy reads the requests, so it needs whole URLs, and a 407 is its own. `tunnel`: a proxy only carries bytes. */
  readonly kind: 'direct' | 'forwarded' | 'tunnel';
  /** The origin that the connection speaks HTTP with: the receiver, or a proxy that forwards. */
  readonly origin: string;
  readonly dial: Dial;
  /** Headers added to every request: name, value, name, value … */
  readonly headers: readonly string[];
  /** The proxy, without its userinfo. */
  readonly via?: string;
}

export interface RouteOptions extends DialOptions {
  readonly proxyEnv?: NodeJS.ProcessEnv | undefined;
}

/**
 * Routes https: through a tunnel of the proxy and lets it forward http:, as proxies expect. Does not use undici's
 * ProxyAgent, which cannot close opening connections, folds repeated headers, and requires a password with every user name.
 * `lookup` and `addressRule` apply to direct connections only: the addresses of a proxy, and those that it connects to, are
 * its own business.
 */
export function routeTo(url: URL, { proxyEnv, ...options }: RouteOptions): Route {
  const proxy = proxyEnv && proxyFor(url, proxyEnv);
  if (proxy === undefined) {
    return { kind: 'direct', origin: url.origin, dial: directDial(url, options), headers: [] };
  }
  const { origin, authorization } = proxy;
  const toProxy = { secureContext: options.secureContext };
  const via = origin.origin;
  if (url.protocol === 'https:') {
    return { kind: 'tunnel', origin: url.origin, dial: tunnelDial(url, proxy, toProxy), headers: [], via };
  }
  const credentials = authorization === undefined ? [] : ['proxy-authorization', authorization];
  const headers = ['host', url.host, ...credentials];
  return { kind: 'forwarded', origin: via, dial: directDial(origin, toProxy), headers, via };
}
