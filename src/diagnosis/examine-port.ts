import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { nearHost } from '../suggest.ts';
import { isLoopbackHost, bareHost, portOf } from '../url.ts';
import { askInHttp, askInTls, askPort, type AskedPort } from '../transport/port-speech.ts';
import type { ExaminedFailure, FailureToExamine } from './examined-failure.ts';
import { addressOf, causeByAddress, causeByHostsFile, causeByName, lineOfHostsFile } from './name-causes.ts';
import { proxyFor, type Proxy } from '../transport/route/proxy.ts';

/** Causes of the transport that examining the port can make more exact. */
const INEXACT =
  /^(?:|dns-for-now|no-connection-in-time|unreachable|no-tls|tls-alert|tls-handshake|tls-unfinished|tunnel-no-tls|proxy-(?:unreachable|garbage|forbids|failed|silent))$/;

/**
 * Examines why a request got no response, over a few connections that do not carry the message. Undefined if these reveal
 * no cause that is more exact than `cause`. Never rejects.
 */
export async function examinePort(failure: FailureToExamine): Promise<ExaminedFailure | undefined> {
  const { url: text, error, cause, env, urls = [], signal, timeoutMs = 1_000 } = failure;
  if (!URL.canParse(text) || signal.aborted || !INEXACT.test(cause ?? '')) return undefined;
  const url = new URL(text);
  const proxy = proxyFor(url, env);
  const to = proxy?.origin ?? url;
  const asked = { host: bareHost(to), port: Number(portOf(to)), timeoutMs, signal };
  const meant = error === 'dns' ? nearHost(to.hostname, [...urls, ...Object.values(env)]) : undefined;
  if (meant !== undefined) return { cause: 'near-host', location: `${to.protocol}//${meant}:${portOf(to)}` };
  if (proxy !== undefined) return examineProxy(url, proxy, { error, asked, cause });
  for (const { after, probe } of FAILURE_PROBES) {
    const found = after.test(error) || after.test(cause ?? '') ? await probe(url, failure, asked) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

interface FailureProbe {
  /** Pattern of the errors and causes that the probe examines. */
  readonly after: RegExp;
  readonly probe: (
    url: URL,
    failure: FailureToExamine,
    asked: AskedPort,
  ) => Promise<ExaminedFailure | undefined> | ExaminedFailure | undefined;
}

/** Errors after which the port is asked in TLS and HTTP. */
const ASKED = /^(?:reset|protocol|timeout|tls)$/;

const UNCONNECTED = /^(?:refused|no-connection-in-time)$/;

/** The probes of each class of failure. The first one that finds a cause decides. */
const FAILURE_PROBES: readonly FailureProbe[] = [
  { after: /./, probe: ({ hostname }) => (/[{}$]/.test(hostname) ? { cause: 'placeholder' } : undefined) },
  { after: /^(?:dns|refused)$/, probe: causeByAllProxy },
  { after: /^dns$/, probe: causeByName },
  { after: UNCONNECTED, probe: causeByAddress },
  { after: /^no-connection-in-time$/, probe: causeByLoopback },
  { after: /^refused$/, probe: causeOfRefused },
  { after: ASKED, probe: causeByFacts },
  { after: /^(?:timeout|reset|tls-hostname)$/, probe: causeByHostsFile },
];

/** Finds out whether `ALL_PROXY`, which other programs read and hooks does not, names a proxy for this URL. */
function causeByAllProxy(url: URL, { env }: FailureToExamine): ExaminedFailure | undefined {
  if (!env['all_proxy'] && !env['ALL_PROXY']) return undefined;
  const any = 'http://proxy.invalid';
  const proxy = proxyFor(url, { ...env, http_proxy: any, https_proxy: any });
  return proxy && { cause: 'all-proxy' };
}

/** Statuses with which web servers respond to CONNECT. A proxy that rejects it responds with 403, 407 or 5xx. */
const OF_NO_PROXY: ReadonlySet<string> = new Set(['400', '404', '405', '501']);

/** Examines the proxy in place of the receiver: its protocol, and its response to CONNECT. */
async function examineProxy(
  url: URL,
  { origin, variable: proxy }: Proxy,
  { error, asked, cause }: { error: string; asked: AskedPort; cause: string | undefined },
): Promise<ExaminedFailure | undefined> {
  const known = cause === undefined ? undefined : { cause, proxy };
  if (cause === 'proxy-unreachable' || !(ASKED.test(error) || error === 'refused')) return known;
  const isTls = origin.protocol === 'https:';
  const { speech, words } = await askPort(asked);
  if (speech === (isTls ? 'http' : 'tls')) {
    return {
      cause: `proxy-speaks-${speech}`,
      location: withProtocol(origin, isTls ? 'http:' : 'https:'),
      proxy,
    };
  }
  if (speech === 'other') return { cause: 'proxy-speaks-other', location: otherProtocol(words), proxy };
  if (url.protocol === 'http:' || (speech !== 'http' && speech !== 'tls')) return known;
  const target = `${url.hostname}:${portOf(url)}`;
  const tunnel = await askInHttp({ ...asked, isTls }, `CONNECT ${target}`, target);
  const status = tunnel.words;
  const location = status === undefined ? 'closes the connection after' : `responded with ${status} to`;
  const isProxy = tunnel.speech !== 'closed' && !OF_NO_PROXY.has(status ?? '');
  return isProxy ? known : { cause: 'no-proxy', location, proxy };
}

/** Explains a refused connection. The host of a refused connection was reached: its name and the route to it are right. */
async function causeOfRefused(
  url: URL,
  failure: FailureToExamine,
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> {
  if (failure.cause !== undefined) return undefined;
  if (!isLoopbackHost(asked.host)) {
    const line = lineOfHostsFile(url.hostname, failure.hostsFile);
    const address =
      line ?? (isIP(asked.host) === 0 ? await addressOf(asked.host, failure, asked) : undefined);
    return {
      cause: 'refused-there',
      location: `${asked.host}${address === undefined ? '' : ` (${address})`}`,
    };
  }
  const other = asked.host === '::1' ? '127.0.0.1' : '::1';
  // Skips `localhost`: the name stands for both loopback addresses, and the request tried both already.
  const isThere =
    asked.host !== 'localhost' && (await askInHttp({ ...asked, host: other })).speech !== 'refused';
  if (isThere) {
    const location = `${url.protocol}//${other === '::1' ? '[::1]' : other}:${portOf(url)}`;
    return { cause: 'other-loopback', location };
  }
  return isInContainer(failure.env) ? { cause: 'container' } : undefined;
}

/** A loopback port without a program refuses connections at once, so one that does not has a program that hangs. */
function causeByLoopback({ hostname }: URL): ExaminedFailure | undefined {
  return isLoopbackHost(hostname) ? { cause: 'not-accepting' } : undefined;
}

/** Whether this process runs in a container, by the traces of Docker, Podman and Kubernetes. */
function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}

async function causeByFacts(
  url: URL,
  { error, cause }: FailureToExamine,
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> {
  const isPlain = url.protocol === 'http:';
  const { speech, isMutual, isAccepted, words } = await askPort(asked, isPlain);
  if (speech === 'tls' && isPlain) return { cause: 'speaks-tls', location: withProtocol(url, 'https:') };
  if (speech === 'http' && !isPlain) return { cause: 'speaks-http', location: withProtocol(url, 'http:') };
  if (speech === 'http2') return { cause: 'speaks-http2' };
  if (speech === 'other') return { cause: 'speaks-other', location: otherProtocol(words) };
  if (error === 'timeout' && cause === undefined) return causeOfNoResponse(url, asked);
  if (isMutual && error !== 'timeout') return { cause: 'client-certificate' };
  if (/^tls-(?:alert|handshake)$/.test(cause ?? '')) return causeOfAlert(asked, isAccepted);
  if (error !== 'reset') return undefined;
  if (speech === 'http') return (await closesHost(url, asked)) ? { cause: 'closes-host' } : undefined;
  if (speech !== 'closed') return undefined;
  const behind = await askInHttp(asked, 'PROXY UNKNOWN\r\nOPTIONS *');
  return { cause: behind.speech === 'http' ? 'proxy-protocol' : 'silent' };
}

/** Finds out whether only the message gets no response, or every request. */
async function causeOfNoResponse(
  { host, pathname, protocol }: URL,
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> {
  const isTls = protocol === 'https:';
  const { speech } = await askInHttp({ ...asked, isTls }, `OPTIONS ${pathname}`, host);
  if (speech === 'http') return { cause: 'handler-silent' };
  return speech === 'silent' && !asked.signal.aborted ? { cause: 'port-silent' } : undefined;
}

/** Tries a handshake that the server ended with an alert again, without a server name. */
async function causeOfAlert(asked: AskedPort, isAccepted = false): Promise<ExaminedFailure | undefined> {
  if (isAccepted) return { cause: 'tls-13' };
  const { isAccepted: isNameless, isMutual } = await askInTls(asked, '');
  return isIP(asked.host) === 0 && (isNameless || isMutual) ? { cause: 'tls-name' } : undefined;
}

/** Whether the server closes a request for the host and path of the URL whatever its method, so that no message is its cause. */
async function closesHost({ host, pathname }: URL, asked: AskedPort): Promise<boolean> {
  return (await askInHttp(asked, `OPTIONS ${pathname}`, host)).speech === 'closed';
}

function otherProtocol(words = ''): string {
  return `another protocol, not HTTP${words === '' ? '' : `: "${words}"`}`;
}

/** The URL with `protocol` in place of its own, at the same port. Drops the query, which may be secret. */
function withProtocol(url: URL, protocol: 'http:' | 'https:'): string {
  return `${protocol}//${url.hostname}:${portOf(url)}${url.pathname}`;
}
