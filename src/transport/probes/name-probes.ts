import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { printable } from '../../redact.ts';
import { orEmpty } from './local-ports.ts';
import type { FailureToExamine } from './examined-failure.ts';

/** Looks up a host. Returns its address, `late` if there is no result within `timeoutMs`, or the code of the error. */
export async function addressOf(
  hostname: string,
  { lookUp = lookup }: FailureToExamine,
  timeoutMs: number,
): Promise<string> {
  if (isIP(hostname) > 0) return hostname;
  return Promise.race([
    lookUp(hostname).then(
      ({ address }) => address,
      (error: NodeJS.ErrnoException) => error.code ?? 'failed',
    ),
    setTimeout(timeoutMs, 'late', { ref: false }),
  ]);
}

/**
 * Looks up the parent domain of a host that was not found, to say which of the two names does not exist. Empty if the
 * lookup does not show that, or if the parent is a top-level domain.
 */
export async function aboveOf(
  hostname: string,
  failure: FailureToExamine,
  timeoutMs: number,
): Promise<string> {
  const above = hostname.split('.').slice(1).join('.');
  if (!/^[^.]+\./.test(above)) return '';
  const address = await addressOf(above, failure, timeoutMs);
  if (isIP(address) > 0) return `${above} exists, but ${hostname} does not`;
  return address === 'ENOTFOUND' ? `neither ${hostname} nor ${above} has an address` : '';
}

/** The namespace of the pod in which this process runs, from the search domains. Empty outside Kubernetes. */
export function namespaceOf({ resolverFile = '/etc/resolv.conf' }: FailureToExamine): string {
  const search = linesOf(resolverFile).find((line) => /^search\s.*\.svc\./.test(line)) ?? '';
  return /([\w-]+)\.svc\./.exec(search)?.[1] ?? '';
}

const HOSTS_FILE =
  process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts';

/**
 * The line of the hosts file that gives the host its address: `line 3 of /etc/hosts: 10.0.0.1`. Empty if there is none,
 * and for `localhost`, which is in every hosts file.
 */
export function hostsLineOf(hostname: string, { hostsFile: file = HOSTS_FILE }: FailureToExamine): string {
  const words = linesOf(file).map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/));
  const at = words.findIndex(([, ...names]) => hostname !== 'localhost' && names.includes(hostname));
  const [address = ''] = words[at] ?? [];
  return at === -1 ? '' : `line ${at + 1} of ${file}: ${printable(address, 60)}`;
}

function linesOf(file: string): readonly string[] {
  return orEmpty(() => readFileSync(file, 'utf8')).split(/\r?\n/);
}

/** Whether variables or files of Docker, Podman or Kubernetes show that this process runs in a container. */
export function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}
