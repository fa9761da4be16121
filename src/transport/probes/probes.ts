import { isIP } from 'node:net';
import { isOwnAddress, localPorts, programAt } from './local-ports.ts';
import { hostAt, ownerText, portsNear, spokenAt } from './near-ports.ts';
import { askInHttp, askInTls, askPort, type AskedPort, type PortFacts } from './port-speech.ts';
import { proxyFor, type Proxy } from '../route/proxy.ts';
import { nearHost } from '../../suggest.ts';
import { bareHost, portOf } from '../../url.ts';
import type { FailureToExamine } from './examined-failure.ts';
import { aboveOf, addressOf, hostsLineOf, isInContainer, namespaceOf } from './name-probes.ts';
import { routesAt, routesOf, type RouteFacts } from './path-probes.ts';

/** A failed request, with what its probes have shown so far. */
export interface Scene {
  readonly url: URL;
  readonly failure: FailureToExamine;
  readonly proxy: Proxy | undefined;
  /** The port of the receiver. */
  readonly receiver: AskedPort;
  /** The port that was connected to: that of the proxy, if there is one. */
  readonly asked: AskedPort;
  /** Returns what a probe shows: nothing if there is no probe of this name. Runs each at most once. */
  readonly show: (name: string) => Promise<string>;
  /** Asks for the routes of the receiver, once. */
  readonly routes: () => Promise<RouteFacts>;
}

/** Makes the scene of a failed request. Throws for a proxy variable that cannot be used. */
export function sceneOf(failure: FailureToExamine, signal: AbortSignal): Scene {
  const { env, timeoutMs = 1_000 } = failure;
  const url = new URL(failure.url);
  const proxy = proxyFor(url, env);
  const portAt = (at: URL): AskedPort => ({
    host: bareHost(at),
    port: Number(portOf(at)),
    timeoutMs,
    signal,
  });
  const kept = new Map<string, Promise<string>>();
  let routes: Promise<RouteFacts> | undefined;
  const scene: Scene = {
    url,
    failure,
    proxy,
    receiver: portAt(url),
    asked: portAt(proxy?.origin ?? url),
    show: (name) => {
      const shown = kept.get(name) ?? Promise.resolve(PROBES[name]?.(scene) ?? '');
      kept.set(name, shown);
      return shown;
    },
    routes: () => (routes ??= routesAt(url, { ...portAt(url), isTls: url.protocol === 'https:' })),
  };
  return scene;
}

type ProbeRun = (scene: Scene) => Promise<string> | string;

/**
 * Each probe by its name: it returns what it shows in words, and nothing if it shows nothing. Only those that connect or look
 * up names take time: one round of connections, or two of half the time.
 */
export const PROBES: Readonly<Record<string, ProbeRun>> = {
  failed: ({ failure: { error, cause = '' } }) => `${error}/${cause}`,
  status: ({ failure: { status = '' } }) => String(status),
  scheme: ({ url }) => url.protocol.slice(0, -1),
  host: ({ url }) => url.hostname,
  way: ({ proxy }) => (proxy === undefined ? 'direct' : proxy.origin.protocol.slice(0, -1)),
  inTls: ({ url }) => withProtocol(url, 'https:'),
  inHttp: ({ url }) => withProtocol(url, 'http:'),
  proxyInTls: ({ proxy, url }) => withProtocol(proxy?.origin ?? url, 'https:'),
  proxyInHttp: ({ proxy, url }) => withProtocol(proxy?.origin ?? url, 'http:'),
  allProxy: ({ url, failure: { env } }) => {
    const any = { ...env, http_proxy: 'http://proxy.invalid', https_proxy: 'http://proxy.invalid' };
    return (env['all_proxy'] || env['ALL_PROXY']) && proxyFor(url, any) ? 'set' : '';
  },
  /** An entry of NO_PROXY that names the host, but does not except it. */
  exception: ({ url, failure: { env } }) => {
    const entries = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/);
    const names = (entry: string): boolean =>
      entry
        .toLowerCase()
        .split(/[^\w.-]+/)
        .includes(url.hostname);
    return entries.find(names) ?? '';
  },
  near: ({ proxy, url, failure: { urls = [], env } }) => {
    const to = proxy?.origin ?? url;
    const meant = nearHost(to.hostname, [...urls, ...Object.values(env)]);
    return meant === undefined ? '' : `${to.protocol}//${meant}:${portOf(to)}`;
  },
  above: ({ url, failure, receiver }) => aboveOf(url.hostname, failure, receiver.timeoutMs),
  namespace: ({ failure }) => namespaceOf(failure),
  hostsLine: ({ url, failure }) => hostsLineOf(url.hostname, failure),
  within: ({ failure: { env } }) => (isInContainer(env) ? ' in this container' : ''),
  address: ({ failure, asked }) => addressOf(asked.host, failure, asked.timeoutMs),
  /** The line of the hosts file that gives the host its address, in parentheses. */
  from: async ({ show }) => {
    const line = await show('hostsLine');
    return line === '' ? '' : ` (${line})`;
  },
  /** The host with its address, or the line that gives it. */
  addressed: async ({ asked: { host }, show }) => {
    const from = (await show('hostsLine')) || (await show('address'));
    return isIP(host) > 0 ? host : `${host} (${from})`;
  },
  machine: async ({ show }) => {
    const address = await show('address');
    return isIP(address) > 0 ? (isOwnAddress(address) ? 'own' : 'other') : 'unknown';
  },
  /** The protocol of the port that was connected to. */
  speech: async ({ asked, url }) => {
    const half = { ...asked, timeoutMs: asked.timeoutMs / 2 };
    return speechText(await askPort(half, url.protocol === 'http:'));
  },
  /** The protocol of the port, in its own words. */
  words: async ({ show }) => {
    const words = (await show('speech')).replace(/^other ?/, '');
    return `another protocol, not HTTP${words === '' ? '' : `: "${words}"`}`;
  },
  /** The response of the path to `OPTIONS`. */
  options: async ({ url: { protocol, host, pathname }, receiver }) =>
    speechText(await askInHttp({ ...receiver, isTls: protocol === 'https:' }, `OPTIONS ${pathname}`, host)),
  /** The response to `OPTIONS` without a path and for another host. */
  anyPath: async ({ url: { protocol }, receiver }) =>
    speechText(await askInHttp({ ...receiver, isTls: protocol === 'https:' })),
  nameless: async ({ receiver }) => (isIP(receiver.host) > 0 ? '' : speechText(await askInTls(receiver, ''))),
  proxyLine: async ({ receiver }) => speechText(await askInHttp(receiver, 'PROXY UNKNOWN\r\nOPTIONS *')),
  tunnel: async ({ asked, url, proxy }) => {
    const target = `${url.hostname}:${portOf(url)}`;
    const isTls = proxy?.origin.protocol === 'https:';
    const { speech, words } = await askInHttp({ ...asked, isTls }, `CONNECT ${target}`, target);
    return speech === 'closed'
      ? 'closes the connection after'
      : words === undefined
        ? ''
        : `responded with ${words} to`;
  },
  /** The protocol that the receiver speaks without the proxy. */
  bypass: async ({ proxy, receiver, url: { protocol, host } }) => {
    if (proxy === undefined) return '';
    const { speech } = await (protocol === 'https:' ? askInTls(receiver) : askInHttp(receiver));
    const isReached = speech === 'tls' || speech === 'http';
    return isReached ? `; without the proxy, ${host} speaks ${speech.toUpperCase()}` : '';
  },
  /** The difference that the proxy makes to an `OPTIONS` of the same URL. */
  difference: async ({ asked, proxy, receiver, url: { origin, host, pathname } }) => {
    const isTls = proxy?.origin.protocol === 'https:';
    const login = proxy?.authorization && `\r\nProxy-Authorization: ${proxy.authorization}`;
    const [through, direct] = await Promise.all([
      askInHttp({ ...asked, isTls }, `OPTIONS ${origin}${pathname}`, host + (login ?? '')),
      askInHttp(receiver, `OPTIONS ${pathname}`, host),
    ]);
    const isKnown = through.speech === 'http' && direct.speech === 'http' && through.words !== direct.words;
    return isKnown
      ? `OPTIONS ${pathname} gets ${through.words} through it, and ${direct.words} without it`
      : '';
  },
  /** The other address of this machine at which a program listens at the same port. */
  elsewhere: async ({ url: { protocol }, asked }) => {
    const listener = localPorts().find(({ port }) => port === asked.port);
    const isLoopback = ['::1', '127.0.0.1'].includes(asked.host);
    const other = asked.host === '::1' ? '127.0.0.1' : '::1';
    const isOpen = async (host: string): Promise<boolean> =>
      (await askInHttp({ ...asked, host })).speech !== 'refused';
    const found = listener ? hostAt(listener) : isLoopback && (await isOpen(other)) ? other : undefined;
    if (found === undefined || found === asked.host) return '';
    return `${protocol}//${isIP(found) === 6 ? `[${found}]` : found}:${asked.port}`;
  },
  /** The program that listens at the port of this machine. */
  program: async (scene) => {
    const { text = '' } = (await listenerOf(scene)) ?? {};
    return text === '' ? '' : `; ${text} listens there`;
  },
  state: async (scene) => ((await listenerOf(scene))?.isStopped ? 'stopped' : ''),
  /** The other ports of this machine that speak HTTP or TLS. */
  others: async ({ asked }) => {
    const found = await Promise.all(portsNear(asked.port).map((each) => spokenAt(each, asked)));
    const told = found.filter((text) => text !== '').slice(0, MOST_TOLD);
    return told.length === 0 ? '' : `on this machine, ${told.join(', ')}`;
  },
  route: async ({ routes }) => (await routes()).route ?? '',
  noPost: async ({ routes }) => (await routes()).noPost ?? '',
  otherRoute: async ({ routes }) => (await routes()).otherRoute ?? '',
  otherUrl: async ({ routes }) => (await routes()).otherUrl ?? '',
  /** The port of this machine that has a route for the path. */
  routedPort: async ({ asked, url: { host, pathname } }) => {
    const found = await Promise.all(
      portsNear(asked.port).map(async (near) => {
        const [route] = await routesOf([pathname], host, { ...asked, host: hostAt(near), port: near.port });
        const isFound = route?.isRoute && route.takesPost;
        return isFound
          ? `port ${near.port} has one${ownerText(near)}: OPTIONS ${pathname} gets ${route.text}`
          : '';
      }),
    );
    return found.find((text) => text !== '') ?? '';
  },
};

/** The URL with `protocol` in place of its own, at the same port. Drops the query, which may be secret. */
function withProtocol(url: URL, protocol: 'http:' | 'https:'): string {
  return `${protocol}//${url.hostname}:${portOf(url)}${url.pathname}`;
}

async function listenerOf({ asked, show }: Scene): Promise<ReturnType<typeof programAt> | undefined> {
  const listener = localPorts().find(({ port }) => port === asked.port);
  return listener !== undefined && (await show('machine')) === 'own' ? programAt(listener) : undefined;
}

/** Most other ports that a sentence names. */
const MOST_TOLD = 3;

/** The facts about a port in words: `tls accepted`, `http 200`, `other SSH-2.0-OpenSSH_9.6`. */
function speechText({ speech, isMutual, isAccepted, words = '' }: PortFacts): string {
  return [speech, isMutual && 'mutual', isAccepted && 'accepted', words].filter(Boolean).join(' ');
}
