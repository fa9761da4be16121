import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
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

/** Whether variables or files of Docker, Podman or Kubernetes show that this process runs in a container. */
export function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}
