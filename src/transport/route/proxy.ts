import { BlockList, isIP } from 'node:net';
import { isLoopbackHost, bareHost, portOf, userinfoHint } from '../../url.ts';
import { ConfigError } from '../../errors.ts';
import { MASK, printable, redactUrl } from '../../redact.ts';

/** A proxy between this machine and a receiver. */
export interface Proxy {
  /** The proxy's URL without userinfo, so that it can be shown. */
  readonly origin: URL;
  /** The environment variable that names the proxy: `https_proxy`, `HTTP_PROXY` … */
  readonly variable: string;
  /** The value of `Proxy-Authorization`. Undefined if the URL in the environment variable has no userinfo. */
  readonly authorization?: string;
}

/**
 * Returns the proxy that the environment sets for a URL, by curl's rules: `https_proxy` for https:, `http_proxy` for http:,
 * lower case first, except for hosts in `no_proxy`. Loopback hosts never have a proxy, because the proxy would connect to
 * its own machine.
 */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): Proxy | undefined {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const key = env[name] ? name : name.toUpperCase();
  const value = env[key];
  // Without the final dot, which only marks a complete name.
  const host = bareHost(url).replace(/\.$/, '');
  if (!value || isLoopbackHost(host)) return undefined;
  const exceptions = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  return isException(host, portOf(url), exceptions) ? undefined : readProxy(key, value);
}

export function proxyVariable(env: NodeJS.ProcessEnv): string | undefined {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].find((key) => env[key]);
}

function readProxy(key: string, value: string): Proxy {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const user = url && decoded(url.username);
  const password = url && decoded(url.password);
  // An @ behind the host: a character of the password ended the host too early.
  const isCut = url !== undefined && `${url.pathname}${url.search}${url.hash}`.includes('@');
  if (!url || isCut || !/^https?:$/.test(url.protocol) || user === undefined || password === undefined) {
    const shown = printable(isCut ? text.replace(/\/\/.*@/s, `//${MASK}@`) : redactUrl(text));
    throw new ConfigError(`Expected ${key} to be an http: or https: URL, got ${shown}`, {
      key,
      origin: key,
      hint: userinfoHint(text) ?? `set it like ${key}=http://proxy.example:3128, or unset it`,
    });
  }
  const origin = new URL(url.origin);
  if (url.username === '' && url.password === '') return { origin, variable: key };
  return {
    origin,
    variable: key,
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether `no_proxy` excludes the host from the proxy. Its entries are separated by commas or white space: `*`, a network
 * such as `10.0.0.0/8`, or a domain, which includes its subdomains. A domain may have a leading dot and a port.
 */
function isException(host: string, port: string, exceptions: string): boolean {
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || isInNetwork(host, entry) || covers(entry, host, port));
}

/** Whether the host is an address in the network, as curl, Go and Ruby read it too. */
function isInNetwork(host: string, entry: string): boolean {
  const [, network = '', bits = ''] = /^\[?([\d.a-f:]+)\]?\/(\d{1,3})$/.exec(entry) ?? [];
  const version = isIP(network);
  if (version === 0 || isIP(host) !== version || Number(bits) > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(host, family);
}

function covers(entry: string, host: string, port: string): boolean {
  const [, bracketed, plain, entryPort] = /^(?:\[(.+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const name = (bracketed ?? plain ?? '').replace(/^\*?\./, '');
  if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
  return host === name || host.endsWith(`.${name}`);
}
