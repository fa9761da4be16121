import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AnswerCase, AnswerTheme, Given } from '../answer-case.ts';
import { listening, responds, startHttp } from '../counterparts.ts';
import type { Scene, Values } from '../scene.ts';
import { proxyServer } from '../../transport/proxy-server.ts';
import { SEND } from './sending.ts';

/** A proxy that responds to everything with this status. Gives {proxy}. */
function proxyThatSays(status: number): (scene: Scene) => Promise<Values> {
  return async ({ onEnd }) => {
    const proxy = await proxyServer({ status });
    onEnd(() => proxy.close());
    return { proxy: proxy.origin };
  };
}

/** A server that responds to whatever comes with these words. Gives {proxy}. */
function rawProxy(scheme: 'http' | 'https', words: string): (scene: Scene) => Promise<Values> {
  return async ({ onEnd }) => {
    const server = createServer((socket) => socket.once('data', () => socket.write(words)));
    const { port, close } = await listening(server);
    onEnd(close);
    return { proxy: `${scheme}://127.0.0.1:${port}` };
  };
}

/** A TLS server in place of a proxy. Gives {proxy} with http:. */
async function tlsProxy({ certificates, onEnd }: Scene): Promise<Values> {
  const { keyFile, certFile } = (await certificates()).good;
  const tls = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
  const { port, close } = await startHttp(responds(200), tls);
  onEnd(close);
  return { proxy: `http://127.0.0.1:${port}` };
}

async function webServer({ onEnd }: Scene): Promise<Values> {
  const { port, close } = await startHttp(responds(200));
  onEnd(close);
  return { proxy: `http://127.0.0.1:${port}` };
}

async function silentProxy({ onEnd }: Scene): Promise<Values> {
  const proxy = await proxyServer({ silent: true });
  onEnd(() => proxy.close());
  return { proxy: proxy.origin };
}

/** Gives {proxy}: an address at which nothing listens. */
async function noProxy(): Promise<Values> {
  const { port, close } = await listening(createServer());
  await close();
  return { proxy: `http://127.0.0.1:${port}` };
}

const to = (url: string): readonly string[] => SEND.map((word) => (word === '{url}' ? url : word));
const SECURE = to('https://receiver.example/hook');
const PLAIN = to('http://receiver.example/hook');
const ENV = { HTTPS_PROXY: '{proxy}', HTTP_PROXY: '{proxy}' };

const NTLM =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n';
const SQUID =
  'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nServer: squid/6.6\r\nX-Squid-Error: ERR_DNS_FAIL 0\r\nContent-Length: 0\r\n\r\n';

const FORBIDDEN =
  'HTTP/1.1 403 Forbidden\r\nVia: 1.1 gw (acme/2)\r\nServer: acme/2\r\nContent-Length: 0\r\n\r\n';

type ProxyCase = Omit<AnswerCase, 'argv' | 'given'> & {
  /** @default SECURE */
  readonly argv?: readonly string[];
  readonly start?: Given['start'];
  /** @default that of `start`, for http: and https: */
  readonly env?: Given['env'];
};

const CASES: readonly ProxyCase[] = [
  {
    id: 'proxy-407',
    title: 'the proxy wants a password',
    start: proxyThatSays(407),
    cause: 'the proxy wants a user and a password (407)',
    fix: 'give them: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT; or go direct: NO_PROXY=receiver.example',
    never: ['wait until it listens', 'round 2', 'hooks listen'],
  },
  {
    id: 'proxy-407-not-retried',
    title: 'the proxy wants a password, with time to retry',
    start: proxyThatSays(407),
    argv: [...SECURE.slice(0, -2), '--retry-for', '20s'],
    cause: 'the proxy wants a user and a password (407)',
    fix: 'give them: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT',
    never: ['retry:', 'round 2'],
  },
  {
    id: 'proxy-407-http',
    title: 'the proxy wants a password for an http: receiver',
    start: proxyThatSays(407),
    argv: PLAIN,
    cause: 'the proxy wants a user and a password (407)',
    fix: 'give them: HTTP_PROXY=http://USER:PASSWORD@HOST:PORT',
  },
  {
    id: 'proxy-403',
    title: 'the proxy does not allow the host',
    start: proxyThatSays(403),
    cause: 'the proxy does not allow the connection to receiver.example',
    fix: 'let the proxy allow it, or go direct: NO_PROXY=receiver.example',
    never: ['wait until it listens', 'same secret'],
  },
  {
    id: 'proxy-502',
    title: 'the proxy cannot reach the receiver',
    start: proxyThatSays(502),
    cause: 'the proxy could not connect to receiver.example',
    fix: 'check the host and port of the URL; a proxy cannot reach names that exist only on this machine: NO_PROXY=receiver.example goes direct',
  },
  {
    id: 'proxy-refused',
    title: 'the proxy of the environment is not running',
    start: noProxy,
    cause: 'the proxy itself cannot be reached; nothing was asked of receiver.example',
    fix: 'check HTTPS_PROXY, or go direct: NO_PROXY=receiver.example',
    never: ['wait until it listens', 'host.docker.internal'],
  },
  {
    id: 'proxy-refused-http',
    title: 'the same with an http: receiver',
    start: noProxy,
    argv: PLAIN,
    cause: 'the proxy itself cannot be reached; nothing was asked of receiver.example',
    fix: 'check HTTP_PROXY, or go direct: NO_PROXY=receiver.example',
  },
  {
    id: 'proxy-speaks-http',
    title: 'the proxy is given with https:// and speaks plain HTTP',
    start: rawProxy('https', 'HTTP/1.1 400 Bad Request\r\n\r\n'),
    cause: 'the port in HTTPS_PROXY speaks HTTP: http://127.0.0.1:',
    fix: 'set HTTPS_PROXY=http://127.0.0.1:',
    never: ['a place that', 'crashed', 'http:// does without'],
  },
  {
    id: 'proxy-speaks-tls',
    title: 'the proxy is given with http:// and speaks TLS',
    start: tlsProxy,
    cause: 'the port in HTTPS_PROXY speaks TLS: https://127.0.0.1:',
    fix: 'set HTTPS_PROXY=https://127.0.0.1:',
    never: ['crashed', 'respond first'],
  },
  {
    id: 'proxy-is-web-server',
    title: 'the proxy is a web server',
    start: rawProxy('http', 'HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n'),
    cause: 'the server in HTTPS_PROXY is no proxy: it responded with 405 to CONNECT',
    fix: 'check HTTPS_PROXY: host, port, and http:// or https://; or go direct: NO_PROXY=receiver.example',
    never: ['does not allow'],
  },
  {
    id: 'proxy-is-node-server',
    title: 'the proxy is a web server of Node, which closes the connection after CONNECT',
    start: webServer,
    env: { https_proxy: '{proxy}' },
    cause: 'the server in https_proxy is no proxy: it closes the connection after CONNECT',
    fix: 'check https_proxy: host, port',
    never: ['crashed'],
  },
  {
    id: 'proxy-silent',
    title: 'the proxy never responds to CONNECT',
    start: silentProxy,
    argv: [...SECURE, '--timeout', '300ms'],
    cause:
      'the proxy accepted the connection, but no TLS handshake with receiver.example through it finished in time',
    fix: 'check HTTPS_PROXY: host, port',
    never: ['respond first', 'load balancer'],
  },
  {
    id: 'proxy-no-http',
    title: 'the proxy responds to CONNECT with something else than HTTP',
    start: rawProxy('http', 'SSH-2.0-OpenSSH_9.6\r\n'),
    cause: 'the server in HTTPS_PROXY is no proxy: it responded with SSH-2.0-OpenSSH_9.6 to CONNECT',
    fix: 'check HTTPS_PROXY: host, port, and http:// or https://',
    never: ['crashed', 'http:// does without'],
  },
  {
    id: 'proxy-no-tunnel',
    title: 'the proxy responds to CONNECT with 200 and a page',
    start: rawProxy('http', 'HTTP/1.1 200 OK\r\n\r\n<html>Hello, this is a page</html>'),
    cause: 'the response through the proxy in HTTPS_PROXY is not TLS',
    fix: 'check HTTPS_PROXY: host, port, and http:// or https://',
    never: ['a place that', 'crashed', 'http:// does without'],
  },
  {
    id: 'proxy-name',
    title: 'a typing error in the name of the proxy',
    env: { HTTPS_PROXY: 'http://proxy.invalid:3128' },
    cause: 'the proxy itself cannot be reached',
    fix: 'check HTTPS_PROXY, or go direct: NO_PROXY=receiver.example',
  },
  {
    id: 'proxy-json',
    title: 'the same for a program',
    start: proxyThatSays(407),
    argv: [...SECURE, '-o', 'json'],
    cause: '"cause":"proxy-authentication"',
    fix: '"hint":"give them: HTTPS_PROXY=',
  },
  {
    id: 'proxy-test',
    title: 'hooks test through a proxy that wants a password',
    start: proxyThatSays(407),
    argv: ['test', 'https://receiver.example/hook', '--secret', 's3cret'],
    cause: 'the proxy wants a user and a password (407)',
    fix: 'give them: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT',
    exitCode: 2,
  },
  {
    id: 'proxy-ntlm',
    title: 'the proxy wants NTLM or Kerberos',
    start: rawProxy('http', NTLM),
    cause: 'the proxy wants a login by NTLM or Kerberos (407)',
    fix: 'run a proxy on this machine that logs in there (cntlm, px)',
    never: ['USER:PASSWORD'],
  },
  {
    id: 'proxy-ntlm-http',
    title: 'the same with an http: receiver',
    start: rawProxy('http', NTLM),
    argv: PLAIN,
    cause: 'the proxy wants a login by NTLM or Kerberos (407)',
    fix: 'HTTP_PROXY=http://127.0.0.1:3128',
    never: ['USER:PASSWORD'],
  },
  {
    id: 'proxy-squid-dns',
    title: 'the proxy (Squid) finds no address for an http: receiver',
    start: rawProxy('http', SQUID),
    argv: PLAIN,
    cause: 'the proxy (squid/6.6) responded in place of the application, which never saw the message',
    fix: 'go direct: NO_PROXY=receiver.example',
    never: ['log of the receiver'],
  },
  {
    id: 'proxy-via',
    title: 'a proxy responds itself to a request for an http: receiver',
    start: rawProxy('http', FORBIDDEN),
    argv: PLAIN,
    cause: 'the proxy (acme/2) responded in place of the application, which never saw the message',
    fix: 'allow receiver.example there, or go direct: NO_PROXY=receiver.example',
    never: ['same secret'],
  },
  {
    id: 'proxy-squid-test',
    title: 'the same with hooks test',
    start: rawProxy('http', SQUID),
    argv: ['test', 'http://receiver.example/hook', '--secret', 's3cret'],
    cause: 'the proxy (squid/6.6) responded in place of the application, which never saw the message',
    fix: 'check the host and port of the URL, allow receiver.example there',
    never: ['log of the receiver'],
  },
  {
    id: 'proxy-squid-connect',
    title: 'the proxy (Squid) cannot connect to an http: receiver',
    start: rawProxy('http', SQUID.replace('DNS', 'CONNECT')),
    argv: PLAIN,
    cause: 'the proxy (squid/6.6) responded in place of the application, which never saw the message',
    fix: 'NO_PROXY=receiver.example',
  },
  {
    id: 'proxy-scheme',
    title: 'a proxy of another scheme than http and https',
    env: { HTTPS_PROXY: 'socks5://127.0.0.1:1080' },
    cause: 'Expected HTTPS_PROXY to be an http: or https: URL, got socks5://127.0.0.1:1080',
    fix: 'set it like HTTPS_PROXY=http://proxy.example:3128, or unset it',
    exitCode: 2,
  },
];

/** Proxies that the environment names. */
export const PROXIES: AnswerTheme = {
  title: 'A proxy (HTTPS_PROXY, HTTP_PROXY)',
  cases: CASES.map(({ argv = SECURE, env = ENV, start, ...rest }) => ({
    ...rest,
    argv,
    given: { env, ...(start && { start }) },
  })),
};
