import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { ServiceOptions } from './options.ts';

/** A shortage that comes back within this time is the same one. */
const EPISODE_MS = 2_000;

/** Whether the process can open a file or a connection. When it cannot, the system resets calls, which reach no handler. */
export class FileDescriptors {
  readonly #options: Pick<ServiceOptions, 'clock' | 'log'>;
  #shortAt = -Infinity;

  constructor(options: Pick<ServiceOptions, 'clock' | 'log'>) {
    this.#options = options;
  }

  /** Tries. Logs each shortage once. */
  async areLeft(): Promise<boolean> {
    try {
      await (await open(devNull)).close();
      return true;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException; // of a file operation
      if (code !== 'EMFILE' && code !== 'ENFILE') return true;
    }
    const { clock, log } = this.#options;
    const now = clock.now();
    if (now - this.#shortAt > EPISODE_MS)
      log.error('out of file descriptors: calls are reset', { hint: HINT });
    this.#shortAt = now;
    return false;
  }
}

const HINT =
  'raise the limit (ulimit -n, LimitNOFILE= of systemd), or let fewer clients keep connections open';
