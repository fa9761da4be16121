import { directDial, tunnelDial, type Dial, type DialOptions } from './dial.ts';
import { proxyFor } from './proxy.ts';

/** How requests reach one origin: directly or through a proxy. */
export interface Route {
  /**
   * How a proxy is used. `forwarded`: it reads the requests, so they need absolute URLs, and a status 407 is the proxy's
   * own. `tunnel`: it only carries bytes.
   */
  readonly kind: 'direct' | 'forwarded' | 'tunnel';
  /** The origin whose HTTP server gets the requests: the receiver's, or that of a proxy that forwards. */
  readonly origin: string;
  readonly dial: Dial;
  /** Headers that this route adds to every request, for a proxy that forwards: name, value, name, value … */
  readonly headers: readonly string[];
  /** The URL of the proxy, without userinfo, and its variable: `http://proxy:3128 (HTTPS_PROXY)`. Undefined without a proxy. */
  readonly via?: string;
}

export interface RouteOptions extends DialOptions {
  readonly proxyEnv?: NodeJS.ProcessEnv | undefined;
}

/**
 * Routes https: through a tunnel of the proxy, and lets the proxy forward http:, as proxies expect. Does not use undici's
 * ProxyAgent, which cannot close opening connections, folds repeated headers, and requires a password with every user name.
 * `lookup` and `addressRule` apply to direct connections only, and not to a proxy or to the addresses that it connects to.
 */
export function routeTo(url: URL, { proxyEnv, ...options }: RouteOptions): Route {
  const proxy = proxyEnv && proxyFor(url, proxyEnv);
  if (proxy === undefined) {
    return { kind: 'direct', origin: url.origin, dial: directDial(url, options), headers: [] };
  }
  const { origin, variable, authorization } = proxy;
  const toProxy = { secureContext: options.secureContext };
  const via = `${origin.origin} (${variable})`;
  if (url.protocol === 'https:') {
    return { kind: 'tunnel', origin: url.origin, dial: tunnelDial(url, proxy, toProxy), headers: [], via };
  }
  const credentials = authorization === undefined ? [] : ['proxy-authorization', authorization];
  const headers = ['host', url.host, ...credentials];
  return { kind: 'forwarded', origin: origin.origin, dial: directDial(origin, toProxy), headers, via };
}
