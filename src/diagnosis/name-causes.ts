import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { printable } from '../redact.ts';
import type { AskedPort } from '../transport/port-speech.ts';
import type { ExaminedFailure, FailureToExamine } from './examined-failure.ts';

/** Explains a host name that was not found. */
export function causeByName(
  { hostname }: URL,
  { resolverFile = '/etc/resolv.conf' }: FailureToExamine,
): ExaminedFailure | undefined {
  if (hostname === 'host.docker.internal') return { cause: 'docker-host' };
  if (hostname.includes('.')) return undefined;
  // Kubernetes writes the namespace of a pod into the first search domain: `default.svc.cluster.local`.
  const search = linesOf(resolverFile).find((line) => /^search\s.*\.svc\./.test(line));
  const location = search && /([\w-]+)\.svc\./.exec(search)?.[1];
  return location ? { cause: 'kubernetes-name', location } : { cause: 'service-name' };
}

/** Addresses that stand for no host: block lists give them for the names that they block. */
const OF_NO_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Looks up the address of the host again, if no connection was made. */
export async function causeByAddress(
  { hostname }: URL,
  failure: FailureToExamine,
  asked: AskedPort,
): Promise<ExaminedFailure | undefined> {
  if (isIP(hostname) > 0 || hostname.startsWith('[')) return undefined;
  const address = await addressOf(hostname, failure, asked);
  if (address === 'late') return { cause: 'slow-names' };
  if (address === undefined || !OF_NO_HOST.has(address)) return undefined;
  return { cause: 'no-address', location: address };
}

/** Looks up the address of a host: `late` if the name server does not respond in time, undefined if there is none. */
export async function addressOf(
  hostname: string,
  { lookUp = lookup }: FailureToExamine,
  { timeoutMs }: AskedPort,
): Promise<string | undefined> {
  return Promise.race([
    lookUp(hostname).then(
      ({ address }) => address,
      () => undefined,
    ),
    setTimeout(timeoutMs, 'late', { ref: false }),
  ]);
}

const HOSTS_FILE =
  process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts';

/** Finds the line of the hosts file that gives the host an address that does not work. */
export function causeByHostsFile(
  { hostname }: URL,
  { hostsFile }: FailureToExamine,
): ExaminedFailure | undefined {
  const location = lineOfHostsFile(hostname, hostsFile);
  return location === undefined || hostname === 'localhost' ? undefined : { cause: 'hosts-file', location };
}

export function lineOfHostsFile(hostname: string, file = HOSTS_FILE): string | undefined {
  const words = linesOf(file).map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/));
  const at = words.findIndex(([, ...names]) => names.includes(hostname));
  const [address = ''] = words[at] ?? [];
  return at === -1 ? undefined : `line ${at + 1} of ${file}: ${printable(address, 60)}`;
}

/** The lines of a file; none if it cannot be read. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}
