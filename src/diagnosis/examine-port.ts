import { existsSync } from 'node:fs';
import { isLoopbackHost, bareHost, portOf } from '../url.ts';
import { askInHttp, askInTls, takesConnections, type AskedPort } from '../transport/port-speech.ts';
import { proxyFor } from '../transport/route/proxy.ts';

/**
 * The result of examining the port of a failed request: the code of the cause, and the URL or protocol that
 * was found instead.
 */
export interface ExaminedFailure {
  readonly cause: string;
  readonly location?: string;
}

export interface FailureToExamine {
  /** The URL of the failed request, without userinfo. */
  readonly url: string;
  /** The stable error code of the failure, such as `refused`. */
  readonly error: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** Timeout, in ms, of each of the at most three connections that examine the port. @default 3000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 3_000;

/**
 * Examines why a request got no response, over a few connections that do not carry the message. Undefined if these reveal
 * no cause, or if requests go through a proxy. Never rejects.
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
  if (/[{}$]/.test(url.hostname)) return { cause: 'placeholder' };
  if ((error === 'dns' || error === 'refused') && wouldGoByAllProxy(url, env)) return { cause: 'all-proxy' };
  if (error === 'dns') return causeByName(url);
  const asked = { host: bareHost(url), port: Number(portOf(url)), timeoutMs, signal };
  if (error === 'refused') return causeOfRefused(url, env, asked);
  if (!['reset', 'protocol', 'timeout', 'tls'].includes(error)) return undefined;
  const found = await causeBySpeech(url, asked);
  const isSilent =
    found === undefined && error === 'reset' && url.protocol === 'http:' && (await staysSilent(asked));
  return isSilent ? { cause: 'silent' } : found;
}

/** Whether `ALL_PROXY`, which other programs read and hooks does not, names a proxy for this URL. */
function wouldGoByAllProxy(url: URL, env: FailureToExamine['env']): boolean {
  if (!env['all_proxy'] && !env['ALL_PROXY']) return false;
  const any = 'http://proxy.invalid';
  return proxyFor(url, { ...env, http_proxy: any, https_proxy: any }) !== undefined;
}

/** Whether a port accepts connections, but closes them without a response to a harmless request. */
async function staysSilent(asked: AskedPort): Promise<boolean> {
  return (await askInHttp(asked)) === 'nothing' && (await takesConnections(asked));
}

function causeByName({ hostname }: URL): ExaminedFailure | undefined {
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
  // Skips `localhost`: the name stands for both loopback addresses, and the request tried both already.
  const isThere = host !== 'localhost' && (await takesConnections({ ...asked, host: other }));
  if (isThere) {
    const found = new URL(url);
    found.hostname = other === '::1' ? '[::1]' : other;
    return { cause: 'other-loopback', location: found.origin };
  }
  return isInContainer(env) ? { cause: 'container' } : undefined;
}

/** Whether this process runs in a container, by the traces of Docker, Podman and Kubernetes. */
function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}

async function causeBySpeech(url: URL, asked: AskedPort): Promise<ExaminedFailure | undefined> {
  const speech = await askInTls(asked);
  const isPlain = url.protocol === 'http:';
  if (speech === 'tls' || speech === 'tls-with-client-certificate') {
    if (isPlain) return { cause: 'speaks-tls', location: withProtocol(url, 'https:') };
    return speech === 'tls' ? undefined : { cause: 'client-certificate' };
  }
  if (isPlain && (speech === 'nothing' || speech === 'undecided')) return undefined;
  // Asks in HTTP even if the server responded to the TLS hello with something other than TLS: Python's servers respond to a
  // TLS hello in HTTP/0.9, without a status line.
  const plain = speech === 'other' || !isPlain ? await askInHttp(asked) : speech;
  if (plain === 'http' && isPlain) return undefined;
  if (plain === 'http') return { cause: 'speaks-http', location: withProtocol(url, 'http:') };
  if (plain === 'http2') return { cause: 'speaks-http2' };
  const isOther = plain === 'other' || (speech === 'other' && plain === 'nothing');
  return isOther ? { cause: 'speaks-other', location: 'another protocol' } : undefined;
}

/** The URL with `protocol` in place of its own, at the same port. Drops the query, which may be secret. */
function withProtocol(url: URL, protocol: 'http:' | 'https:'): string {
  return `${protocol}//${url.hostname}:${portOf(url)}${url.pathname}`;
}
