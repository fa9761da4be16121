import { processorMs } from '../clock.ts';

const MOST_A_SECOND = 10;
const MOST_MS_A_SECOND = 200;

/**
 * Limits the diagnoses of a receiver: at most ten a second, and none after they have taken 200 ms of the processor. Anyone may send
 * requests that do not match, and other requests must not wait for their diagnosis.
 */
export class DiagnosisQuota {
  readonly #now: () => number;
  readonly #spent: () => number;
  #since = -Infinity;
  #count = 0;
  #spentMs = 0;

  /** `spent` returns the processor time in ms. */
  constructor(now: () => number, spent: () => number = processorMs) {
    this.#now = now;
    this.#spent = spent;
  }

  /** Calls `diagnose`; undefined when the quota of this second is used up. */
  use<Result>(diagnose: () => Result): Result | undefined {
    const startedAt = this.#now();
    if (startedAt >= this.#since + 1_000) this.#renew(startedAt);
    if (this.#count >= MOST_A_SECOND || this.#spentMs >= MOST_MS_A_SECOND) return undefined;
    this.#count++;
    const before = this.#spent();
    const result = diagnose();
    this.#spentMs += this.#spent() - before;
    return result;
  }

  #renew(now: number): void {
    this.#since = now;
    this.#count = 0;
    this.#spentMs = 0;
  }
}
