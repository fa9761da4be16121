import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FailureToExamine } from './examined-failure.ts';

/** Looks up a host. Returns its address, an error code such as `ENOTFOUND`, or `late` if the time limit passes. */
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

export function isInContainer(env: FailureToExamine['env']): boolean {
  const isNamed = env['container'] !== undefined || env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return isNamed || existsSync('/.dockerenv') || existsSync('/run/.containerenv');
}
