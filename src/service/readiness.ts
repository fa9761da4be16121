import { sleep } from '../clock.ts';
import { QueueError } from '../errors.ts';
import { errorFields } from './log.ts';
import type { ServiceOptions } from './options.ts';

/** A probe has less patience than a write has with a lock. */
const LONGEST_MS = 2_000;

/** Whether messages could be stored. A change is logged, even while no client calls. */
export class Readiness {
  readonly #parts: Pick<ServiceOptions, 'checkStore' | 'clock' | 'log'>;
  #checking: Promise<boolean> | undefined;
  #wasReady = true;

  constructor(parts: Pick<ServiceOptions, 'checkStore' | 'clock' | 'log'>) {
    this.#parts = parts;
  }

  /** Concurrent callers share one check. */
  async isReady(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    const over = new AbortController();
    const late = sleep(this.#parts.clock, LONGEST_MS, over.signal).then(() => false);
    const isReady = await Promise.race([this.#checking, late]);
    over.abort();
    return isReady;
  }

  async #check(): Promise<boolean> {
    const { checkStore, log } = this.#parts;
    try {
      await checkStore();
      if (!this.#wasReady) log.info('storage available again');
      this.#wasReady = true;
    } catch (error) {
      // A call gets 429, and succeeds when it comes again.
      if (error instanceof QueueError && error.isBusy) return this.#wasReady;
      if (this.#wasReady) log.error('storage unavailable', errorFields(error));
      this.#wasReady = false;
    }
    return this.#wasReady;
  }
}
