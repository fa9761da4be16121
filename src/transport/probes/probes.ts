import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { askInHttp, askInTls, askPort, type AskedPort } from './port-speech.ts';
import { proxyFor, type Proxy } from '../route/proxy.ts';
import { nearHost } from '../../suggest.ts';
import { bareHost, isLoopbackHost, portOf } from '../../url.ts';
import { routesAt } from './path-probes.ts';

/** The result of examining a failed request: the code of its cause, and the values that the explanation quotes. */
export interface ExaminedFailure {
  readonly cause: string;
  /** Results of tests (PROBES) that the explanation quotes, by the name of the probe. */
  readonly shown?: Readonly<Record<string, string>>;
  /** The environment variable that sets the proxy, such as `https_proxy`. Absent without a proxy. */
  readonly proxy?: string;
}

export interface FailureToExamine {
  readonly url: string;
  /** The stable error code of the failure, such as `refused`. */
  readonly error: string;
  readonly status?: number | undefined;
  /** Code of the cause that is already known. If that cause is exact, nothing is examined. */
  readonly cause?: string | undefined;
  /** Other URLs of the config: the user may have meant one of their hosts. @default none */
  readonly urls?: readonly string[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** Time limit of each probe, in ms. @default 1000 */
  readonly timeoutMs?: number;
  /** Resolves a host name. @default the resolver of the system */
  readonly lookUp?: (hostname: string) => Promise<{ readonly address: string }>;
}

/** A failed request, and the tests (PROBES) that examine it. */
export interface Scene {
  readonly url: URL;
  readonly failure: FailureToExamine;
  readonly proxy: Proxy | undefined;
  /** Host and port of the URL, even if the request went through a proxy. */
  readonly receiver: AskedPort;
  /** Host and port that the request connected to: those of the proxy, if there is one. */
  readonly asked: AskedPort;
  /** Returns the result of the probe with this name. Runs each probe at most once. Empty if it shows nothing. */
  readonly show: (name: string) => Promise<string>;
}

export function sceneOf(failure: FailureToExamine, signal: AbortSignal): Scene {
  const { env, timeoutMs = 1_000 } = failure;
  const url = new URL(failure.url);
  const proxy = proxyFor(url, env);
  const portAt = (at: URL): AskedPort => ({
    host: bareHost(at),
    port: Number(portOf(at)),
    timeoutMs,
    signal,
    isTls: at.protocol === 'https:',
  });
  const kept = new Map<string, Promise<string>>();
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
  };
  return scene;
}

/**
 * Probes that examine a failed request, by name. Each returns its result as text, empty if it finds nothing. Only those
 * that connect or look up names take time: one round of connections, or two rounds, the second with half the time limit.
 */
export const PROBES: Readonly<Record<string, (scene: Scene) => Promise<string> | string>> = {
  failed: ({ failure: { error, cause = '' } }) => `${error}/${cause}`,
  status: ({ failure: { status = '' } }) => String(status),
  scheme: ({ url }) => url.protocol.slice(0, -1),
  host: ({ url }) => url.hostname,
  way: ({ proxy }) => (proxy === undefined ? 'direct' : proxy.origin.protocol.slice(0, -1)),
  otherScheme: ({ proxy, url }) => withOtherScheme(proxy?.origin ?? url),
  near: ({ proxy, url, failure: { urls = [], env } }) => {
    const to = proxy?.origin ?? url;
    const meant = nearHost(to.hostname, [...urls, ...Object.values(env)]);
    return meant === undefined ? '' : `${to.protocol}//${meant}:${portOf(to)}`;
  },
  /** The address of the host, an error code such as `ENOTFOUND`, or `late`. */
  address: ({ failure: { lookUp = lookup }, asked: { host, timeoutMs } }) => {
    if (isIP(host) > 0) return host;
    const found = lookUp(host).then(
      ({ address }) => address,
      (error: NodeJS.ErrnoException) => error.code ?? 'failed',
    );
    return Promise.race([found, setTimeout(timeoutMs, 'late', { ref: false })]);
  },
  addressed: async ({ asked: { host }, show }) =>
    isIP(host) > 0 ? host : `${host} (${await show('address')})`,
  machine: async ({ show }) => {
    const address = await show('address');
    return isIP(address) > 0 ? (isOwnAddress(address) ? 'own' : 'other') : 'unknown';
  },
  speech: ({ asked }) => askPort(asked),
  words: async ({ show }) => {
    const [, speech = '', words = ''] = /^(\w+) ?(.*)/.exec(await show('speech')) ?? [];
    if (speech === 'http2') return 'HTTP/2 without TLS only (h2c, as gRPC does), not HTTP/1.1';
    return speech === 'other' ? `another protocol, not HTTP${words && `: "${words}"`}` : speech.toUpperCase();
  },
  options: ({ url: { host, pathname }, receiver }) => askInHttp(receiver, `OPTIONS ${pathname}`, host),
  tunnel: async ({ asked, url }) => {
    const target = `${url.hostname}:${portOf(url)}`;
    const speech = await askInHttp(asked, `CONNECT ${target}`, target);
    if (speech === 'closed') return 'closes the connection after';
    return speech.includes(' ') ? speech.replace(/^\w+/, 'responded with').concat(' to') : '';
  },
  /** Says that the receiver responds in TLS or HTTP without the proxy. */
  bypass: async ({ proxy, receiver, url: { protocol, host } }) => {
    if (proxy === undefined) return '';
    const speech = await (protocol === 'https:' ? askInTls : askInHttp)(receiver);
    return spoken(`; without the proxy, ${host}`, speech);
  },
  /** The URL of another address of this machine at which a program listens on the same port. */
  elsewhere: async ({ url: { protocol }, asked }) => {
    const hosts = ownAddresses().filter((host) => host !== asked.host);
    const speeches = await Promise.all(hosts.map((host) => askInTls({ ...asked, host })));
    const host = hosts.find((_, at) => speeches[at] !== 'refused');
    return host === undefined ? '' : `${protocol}//${isIP(host) === 6 ? `[${host}]` : host}:${asked.port}`;
  },
  /** Up to three other ports of this machine that speak HTTP or TLS. */
  others: async ({ asked }) => {
    const near = [asked.port - 1, asked.port + 1].filter((port) => port > 0 && port < 65_536);
    const ports = new Set([...near, ...USUAL_PORTS].filter((port) => port !== asked.port));
    const found = await Promise.all(Array.from(ports, (port) => spokenAt(port, asked)));
    const told = found.filter((text) => text !== '').slice(0, 3);
    return told.length === 0 ? '' : `; here ${told.join(', ')}: if that is the receiver, give its port`;
  },
  routes: ({ url, receiver }) => routesAt(url, receiver),
  otherUrl: async ({ url, show }) => url.origin + (/^OPTIONS (\S+)/.exec(await show('routes'))?.[1] ?? ''),
};

/** The URL with https: in place of http:, or the reverse, at the same port. Drops the query, which may be secret. */
function withOtherScheme(url: URL): string {
  const scheme = url.protocol === 'https:' ? 'http:' : 'https:';
  return `${scheme}//${url.hostname}:${portOf(url)}${url.pathname}`;
}

function ownAddresses(): readonly string[] {
  const others = Object.values(networkInterfaces()).flatMap((each = []) => each.map((one) => one.address));
  return ['127.0.0.1', '::1', ...others];
}

function isOwnAddress(address: string): boolean {
  return isLoopbackHost(address) || ['0.0.0.0', '::', ...ownAddresses()].includes(address);
}

/** Common ports of development servers. */
const USUAL_PORTS = [80, 1337, 3000, 3001, 3030, 3333, 4000, 4321, 5000, 5173, 8000, 8080, 8081, 8888, 9000];

/** Describes a port of this machine that speaks HTTP or TLS: `port 3000 speaks HTTP`. Empty for other ports. */
async function spokenAt(port: number, asked: AskedPort): Promise<string> {
  const to = { ...asked, host: 'localhost', port, timeoutMs: asked.timeoutMs / 2, isTls: false };
  const plain = await askInHttp(to);
  return spoken(`port ${port}`, plain === 'closed' ? await askInTls(to) : plain);
}

/** Says that a port speaks TLS or HTTP/1. Empty for other protocols. */
function spoken(where: string, speech: string): string {
  const [protocol] = /^(?:tls|http)(?!2)/.exec(speech) ?? [];
  return protocol === undefined ? '' : `${where} speaks ${protocol.toUpperCase()}`;
}
