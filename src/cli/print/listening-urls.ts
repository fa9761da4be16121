import { networkInterfaces } from 'node:os';

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Returns the URLs of a server that listens on every interface, one for each address of this machine. Undefined for a server
 * that listens on one address, which its own URL names.
 * @param url the URL of the server on this machine
 * @param host the address to listen on: `0.0.0.0` stands for all IPv4 addresses, `::` for all IPv4 and IPv6 addresses
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

/** Matches link-local IPv6 addresses, left out because their URL needs an interface name, which few programs accept. */
const LINK_LOCAL = /^fe[89ab]/i;

/** Returns the wildcard address that a host stands for, if any. Parses a URL, because `0` and `::0` are wildcards too. */
function wildcardOf(host: string): string | undefined {
  const text = `http://${host.includes(':') ? `[${host}]` : host}`;
  const parsed = URL.canParse(text) ? new URL(text).hostname : undefined;
  return parsed === '0.0.0.0' || parsed === '[::]' ? parsed : undefined;
}

/** Formats a line with the server's URL and an aligned line for each further URL. Ends with a line break. */
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
