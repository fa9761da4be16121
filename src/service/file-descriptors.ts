import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { ServiceOptions } from './options.ts';

/** A shortage that recurs within this time is not logged again. */
const EPISODE_MS = 2_000;

const HINT = 'raise the limit (ulimit -n, LimitNOFILE= of systemd), or let clients keep fewer connections';

/**
 * Creates a probe that tells whether the process can open another file or connection; if not, the system resets connections.
 * Logs each shortage once.
 */
export function descriptorProbe({ clock, log }: Pick<ServiceOptions, 'clock' | 'log'>) {
  let shortAt = -Infinity;
  return async (): Promise<boolean> => {
    const failure = await open(devNull).then((file) => file.close(), errorCode);
    if (failure !== 'EMFILE' && failure !== 'ENFILE') return true;
    const now = clock.now();
    if (now - shortAt > EPISODE_MS) log.error('out of file descriptors: calls are reset', { hint: HINT });
    shortAt = now;
    return false;
  };
}

const errorCode = ({ code }: NodeJS.ErrnoException): string | undefined => code;
