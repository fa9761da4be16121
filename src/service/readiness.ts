import { sleep } from '../clock.ts';
import { errorFields } from './log.ts';
import type { ServiceOptions } from './options.ts';

/** Whoever probes has less patience than a write has with a lock. */
const LONGEST_MS = 2_000;

/** Whether something could be stored. What changes in that is in the log, though nobody may be calling. */
export class Readiness {
  readonly #parts: Pick<ServiceOptions, 'checkStore' | 'clock' | 'log'>;
  #checking: Promise<boolean> | undefined;
  #wasReady = true;

  constructor(parts: Pick<ServiceOptions, 'checkStore' | 'clock' | 'log'>) {
    this.#parts = parts;
  }

  /** Those who ask at once share one answer. */
  async isReady(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    const answered = new AbortController();
    const late = sleep(this.#parts.clock, LONGEST_MS, answered.signal).then(() => false);
    const isReady = await Promise.race([this.#checking, late]);
    answered.abort();
    return isReady;
  }

  async #check(): Promise<boolean> {
    const { checkStore, log } = this.#parts;
    try {
      await checkStore();
      if (!this.#wasReady) log.info('the store can be written again');
      this.#wasReady = true;
    } catch (error) {
      if (this.#wasReady) log.error('the store cannot be written', errorFields(error));
      this.#wasReady = false;
    }
    return this.#wasReady;
  }
}
