import { existsSync } from 'node:fs';
import { isLoopbackHost, bareHost, portOf } from '../url.ts';
import { askInHttp, askInTls, takesConnections, type AskedPort } from '../transport/port-speech.ts';
import { proxyFor } from '../transport/route/proxy.ts';

/** What a look at the port of a failed request has shown: the code of a cause, and where the receiver is instead. */
export interface ExaminedFailure {
  readonly cause: string;
  readonly location?: string;
}

export interface FailureToExamine {
  /** The URL without userinfo. */
  readonly url: string;
  /** The stable code of the failure. */
  readonly error: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** For one connection, of which there are three at most. @default 3000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 3_000;

/**
 * Looks closer at why a request got no response: in a few connections, of which none carries the message. Undefined when there is nothing
 * to be seen, or a proxy is on the way. Never rejects.
 */
export async function examinePort({
  url: text,
  error,
  env,
  signal,
  timeoutMs = TIMEOUT_MS,
}: FailureToExamine): Promise<ExaminedFailure | undefined> {
  if (!URL.canParse(text) || signal.aborted) return undefined;
  const url = new URL(text);
  if (proxyFor(url, env) !== undefined) return undefined;
  const isPlaceholder = /[{}$]/.test(url.hostname);
  if (isPlaceholder) return { cause: 'placeholder' };
  if ((error === 'dns' || error === 'refused') && wouldGoByAllProxy(url, env)) return { cause: 'all-proxy' };
  if (error === 'dns') return ofName(url);
  if (error === 'refused') return causeOfRefused(url, env, askedPort(url, { timeoutMs, signal }));
  if (['reset', 'protocol', 'timeout', 'tls'].includes(error)) {
    const asked = askedPort(url, { timeoutMs, signal });
    const found = await ofSpeech(url, asked);
    const isSilent =
      found === undefined && error === 'reset' && url.protocol === 'http:' && (await staysSilent(asked));
    return isSilent ? { cause: 'silent' } : found;
  }
  return undefined;
}

/** Whether a variable that other programs read names a proxy for this URL. */
function wouldGoByAllProxy(url: URL, env: FailureToExamine['env']): boolean {
  if (!env['all_proxy'] && !env['ALL_PROXY']) return false;
  const any = 'http://proxy.invalid';
  return proxyFor(url, { ...env, http_proxy: any, https_proxy: any }) !== undefined;
}

/** Whether a port takes connections, and closes them when it is asked for something harmless. */
async function staysSilent(asked: AskedPort): Promise<boolean> {
  return (await askInHttp(asked)) === 'nothing' && (await takesConnections(asked));
}

function ofName({ hostname }: URL): ExaminedFailure | undefined {
  if (hostname === 'host.docker.internal') return { cause: 'docker-host' };
  return hostname.includes('.') ? undefined : { cause: 'service-name' };
}

async function causeOfRefused(
  url: URL,
  env: FailureToExamine['env'],
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> {
  const host = bareHost(url);
  if (!isLoopbackHost(host)) return undefined;
  const other = host === '::1' ? '127.0.0.1' : '::1';
  // The name stands for both, and both were tried.
  const isThere = host !== 'localhost' && (await takesConnections({ ...asked, host: other }));
  if (isThere) {
    const found = new URL(url);
    found.hostname = other === '::1' ? '[::1]' : other;
    return { cause: 'other-loopback', location: found.origin };
  }
  return isInContainer(env) ? { cause: 'container' } : undefined;
}

/** Whether this process runs in a container: by what Docker, Podman and Kubernetes leave there. */
function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}

async function ofSpeech(url: URL, asked: AskedPort): Promise<ExaminedFailure | undefined> {
  const speech = await askInTls(asked);
  const isPlain = url.protocol === 'http:';
  if (speech === 'tls' || speech === 'tls-with-client-certificate') {
    if (isPlain) return { cause: 'speaks-tls', location: withProtocol(url, 'https:') };
    return speech === 'tls' ? undefined : { cause: 'client-certificate' };
  }
  if (isPlain && (speech === 'nothing' || speech === 'undecided')) return undefined;
  // A response to the hello proves nothing: Python's servers respond to it in HTTP/0.9, without a status line.
  const plain = speech === 'other' || !isPlain ? await askInHttp(asked) : speech;
  if (plain === 'http' && isPlain) return undefined;
  if (plain === 'http') return { cause: 'speaks-http', location: withProtocol(url, 'http:') };
  if (plain === 'http2') return { cause: 'speaks-http2' };
  const isOther = plain === 'other' || (speech === 'other' && plain === 'nothing');
  return isOther ? { cause: 'speaks-other', location: 'another protocol' } : undefined;
}

function askedPort(url: URL, limits: Pick<AskedPort, 'timeoutMs' | 'signal'>): AskedPort {
  return { host: bareHost(url), port: Number(portOf(url)), ...limits };
}

/** The same place by the other protocol, at the same port. Without its query, which may be secret. */
function withProtocol(url: URL, protocol: 'http:' | 'https:'): string {
  return `${protocol}//${url.hostname}:${portOf(url)}${url.pathname}`;
}
