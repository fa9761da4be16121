import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { printable } from '../redact.ts';
import { nearHost } from '../suggest.ts';
import { isLoopbackHost, bareHost, portOf } from '../url.ts';
import { askInHttp, askPort, type AskedPort } from '../transport/port-speech.ts';
import { proxyFor, type Proxy } from '../transport/route/proxy.ts';

/** The result of examining the port of a failed request. */
export interface ExaminedFailure {
  readonly cause: string;
  /** The URL or protocol that was found instead, or the status of the proxy. */
  readonly location?: string;
  /** The variable that names the proxy, such as `https_proxy`. */
  readonly proxy?: string;
}

export interface FailureToExamine {
  /** The URL of the failed request, without userinfo. */
  readonly url: string;
  /** The stable error code of the failure, such as `refused`. */
  readonly error: string;
  /** The cause that the transport determined. A cause that leaves nothing to examine is kept. */
  readonly cause?: string | undefined;
  /** Other URLs of the config, whose hosts may be meant by a host that does not exist. @default none */
  readonly urls?: readonly string[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** Timeout, in ms, of each of the at most three connections that examine the port. @default 3000 */
  readonly timeoutMs?: number;
  /** Finds the address of a host. @default the resolver of the system */
  readonly lookUp?: (hostname: string) => Promise<{ readonly address: string }>;
  /** Path of the file that gives hosts their addresses. @default that of the system */
  readonly hostsFile?: string;
}

/** Causes of the transport that examining the port can make more exact. */
const INEXACT: ReadonlySet<string | undefined> = new Set([
  undefined,
  ...'dns-for-now no-connection-in-time unreachable no-tls tls-alert tls-handshake tls-unfinished tunnel-no-tls'.split(
    ' ',
  ),
  ...'proxy-unreachable proxy-garbage proxy-forbids proxy-failed proxy-silent'.split(' '),
]);

/**
 * Examines why a request got no response, over a few connections that do not carry the message. Undefined if these reveal
 * no cause that is more exact than `cause`. Never rejects.
 */
export async function examinePort(failure: FailureToExamine): Promise<ExaminedFailure | undefined> {
  const { url: text, error, cause, env, urls = [], signal, timeoutMs = 3_000 } = failure;
  if (!URL.canParse(text) || signal.aborted || !INEXACT.has(cause)) return undefined;
  const url = new URL(text);
  const proxy = proxyFor(url, env);
  const to = proxy?.origin ?? url;
  const asked = { host: bareHost(to), port: Number(portOf(to)), timeoutMs, signal };
  const meant = error === 'dns' ? nearHost(to.hostname, [...urls, ...Object.values(env)]) : undefined;
  if (meant !== undefined) return { cause: 'near-host', location: `${to.protocol}//${meant}:${portOf(to)}` };
  if (proxy !== undefined) return examineProxy(url, proxy, { error, asked, cause });
  if (/[{}$]/.test(url.hostname)) return { cause: 'placeholder' };
  if ((error === 'dns' || error === 'refused') && wouldGoByAllProxy(url, env)) return { cause: 'all-proxy' };
  if (error === 'dns') return causeByName(url);
  return (
    (await causeByAddress(url, failure, asked)) ??
    (await causeByPort(url, failure, asked)) ??
    causeByHostsFile(url, failure)
  );
}

function causeByPort(
  url: URL,
  { error, cause, env }: FailureToExamine,
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> | undefined {
  if (error === 'refused') return cause === undefined ? causeOfRefused(url, env, asked) : undefined;
  return ASKED.has(error) ? causeByFacts(url, error, asked) : undefined;
}

/** Errors after which the port is asked in TLS and HTTP. */
const ASKED: ReadonlySet<string> = new Set(['reset', 'protocol', 'timeout', 'tls']);

/** Whether `ALL_PROXY`, which other programs read and hooks does not, names a proxy for this URL. */
function wouldGoByAllProxy(url: URL, env: FailureToExamine['env']): boolean {
  if (!env['all_proxy'] && !env['ALL_PROXY']) return false;
  const any = 'http://proxy.invalid';
  return proxyFor(url, { ...env, http_proxy: any, https_proxy: any }) !== undefined;
}

function causeByName({ hostname }: URL): ExaminedFailure | undefined {
  if (hostname === 'host.docker.internal') return { cause: 'docker-host' };
  return hostname.includes('.') ? undefined : { cause: 'service-name' };
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
  if (cause === 'proxy-unreachable' || !(ASKED.has(error) || error === 'refused')) return known;
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

async function causeOfRefused(
  url: URL,
  env: FailureToExamine['env'],
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> {
  if (!isLoopbackHost(asked.host)) return undefined;
  const other = asked.host === '::1' ? '127.0.0.1' : '::1';
  // Skips `localhost`: the name stands for both loopback addresses, and the request tried both already.
  const isThere =
    asked.host !== 'localhost' && (await askInHttp({ ...asked, host: other })).speech !== 'refused';
  if (isThere) {
    const location = `${url.protocol}//${other === '::1' ? '[::1]' : other}:${portOf(url)}`;
    return { cause: 'other-loopback', location };
  }
  return isInContainer(env) ? { cause: 'container' } : undefined;
}

/** Whether this process runs in a container, by the traces of Docker, Podman and Kubernetes. */
function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}

async function causeByFacts(url: URL, error: string, asked: AskedPort): Promise<ExaminedFailure | undefined> {
  const isPlain = url.protocol === 'http:';
  const { speech, isMutual, words } = await askPort(asked, isPlain);
  if (speech === 'tls') {
    if (isPlain) return { cause: 'speaks-tls', location: withProtocol(url, 'https:') };
    return isMutual && error !== 'timeout' ? { cause: 'client-certificate' } : undefined;
  }
  if (speech === 'http') {
    if (!isPlain) return { cause: 'speaks-http', location: withProtocol(url, 'http:') };
    return error === 'reset' && (await closesHost(url, asked)) ? { cause: 'closes-host' } : undefined;
  }
  if (speech === 'http2') return { cause: 'speaks-http2' };
  if (speech === 'other') return { cause: 'speaks-other', location: otherProtocol(words) };
  if (speech !== 'closed' || error !== 'reset') return undefined;
  const behind = await askInHttp(asked, 'PROXY UNKNOWN\r\nOPTIONS *');
  return { cause: behind.speech === 'http' ? 'proxy-protocol' : 'silent' };
}

/** Whether the server closes a request for the host and path of the URL whatever its method, so that no message is its cause. */
async function closesHost({ host, pathname }: URL, asked: AskedPort): Promise<boolean> {
  return (await askInHttp(asked, `OPTIONS ${pathname}`, host)).speech === 'closed';
}

/** Addresses that stand for no host: block lists give them for the names that they block. */
const OF_NO_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Looks up the address of the host again, if no connection was made. */
async function causeByAddress(
  { hostname }: URL,
  { error, cause, lookUp = lookup }: FailureToExamine,
  { timeoutMs }: AskedPort,
): Promise<ExaminedFailure | undefined> {
  const isUnconnected = error === 'refused' || cause === 'no-connection-in-time';
  if (!isUnconnected || isIP(hostname) > 0 || hostname.startsWith('[')) return undefined;
  const found = await Promise.race([
    lookUp(hostname).catch(() => undefined),
    setTimeout(timeoutMs, 'late' as const, { ref: false }),
  ]);
  if (found === 'late') return { cause: 'slow-names' };
  if (found === undefined || !OF_NO_HOST.has(found.address)) return undefined;
  return { cause: 'no-address', location: found.address };
}

/** Errors that a wrong address of the host explains. */
const OF_ADDRESS: ReadonlySet<string> = new Set(['refused', 'timeout', 'reset', 'tls-hostname']);

const HOSTS_FILE =
  process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts';

/** Finds the line of the hosts file that gives the host an address that does not work. */
function causeByHostsFile(
  { hostname }: URL,
  { error, hostsFile = HOSTS_FILE }: FailureToExamine,
): ExaminedFailure | undefined {
  if (!OF_ADDRESS.has(error) || hostname === 'localhost') return undefined;
  const words = linesOf(hostsFile).map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/));
  const at = words.findIndex(([, ...names]) => names.includes(hostname));
  const [address = ''] = words[at] ?? [];
  const location = `line ${at + 1} of ${hostsFile}: ${printable(address, 60)}`;
  return at === -1 ? undefined : { cause: 'hosts-file', location };
}

/** The lines of a file; none if it cannot be read. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}

function otherProtocol(words = ''): string {
  return `another protocol, not HTTP${words === '' ? '' : `: "${words}"`}`;
}

/** The URL with `protocol` in place of its own, at the same port. Drops the query, which may be secret. */
function withProtocol(url: URL, protocol: 'http:' | 'https:'): string {
  return `${protocol}//${url.hostname}:${portOf(url)}${url.pathname}`;
}
