import { networkInterfaces } from 'node:os';

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * The URLs at which a server that listens on every interface is reached, one for each address of this machine; undefined for a server
 * that listens on one address, which its own URL names.
 * @param url at which the server is reached on this machine
 * @param host the address it listens on: `0.0.0.0` stands for each IPv4 address, `::` for those of both kinds
 */
export function listeningUrls(
  url: string,
  host: string,
  interfaces: Interfaces = networkInterfaces(),
): readonly string[] | undefined {
  const wildcard = wildcardOf(host);
  if (wildcard === undefined) return undefined;
  const { protocol, port } = new URL(url);
  return Object.values(interfaces)
    .flatMap((addresses = []) => addresses)
    .filter(({ family }) => family === 'IPv4' || wildcard === '[::]')
    .filter(({ address }) => !LINK_LOCAL.test(address))
    .map(({ family, address }) => `${protocol}//${family === 'IPv6' ? `[${address}]` : address}:${port}`);
}

/** Addresses that a URL reaches only with the name of an interface in it, which few programs take. */
const LINK_LOCAL = /^fe[89ab]/i;

/** The wildcard that a host is, parsed as a URL's host, since `0` and `::0` are wildcards too. */
function wildcardOf(host: string): string | undefined {
  const text = `http://${host.includes(':') ? `[${host}]` : host}`;
  const parsed = URL.canParse(text) ? new URL(text).hostname : undefined;
  return parsed === '0.0.0.0' || parsed === '[::]' ? parsed : undefined;
}

/** The line that names the server's URL, and one for each further URL, aligned. Ends with a line break. */
export function listeningText(
  label: string,
  { url, urls = [] }: { readonly url: string; readonly urls?: readonly string[] | undefined },
  bold: (text: string) => string,
): string {
  const others = urls.filter((other) => other !== url);
  const lines = [
    `${label} ${bold(url)}`,
    ...others.map((other) => `${'and'.padStart(label.length)} ${bold(other)}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
