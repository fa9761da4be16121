import { elapsedMs, processorMs } from '../clock.ts';

/**
 * Time limit of a diagnosis. Counts processor time, so that the result does not depend on other processes of the machine.
 */
export class Deadline {
  /** Milliseconds that the diagnosis may take in total. */
  readonly budgetMs: number;
  readonly #now: () => number;
  #end: number;
  readonly #processorEnd: number;

  /**
   * `now` returns a monotonic time in ms. @default elapsed time until it exceeds the budget, from then on processor time,
   * which takes ten times as long to read
   */
  constructor(budgetMs: number, now?: () => number) {
    this.budgetMs = budgetMs;
    this.#now = now ?? elapsedMs;
    this.#end = this.#now() + budgetMs;
    this.#processorEnd = now === undefined ? processorMs() + budgetMs : -Infinity;
  }

  get isOver(): boolean {
    const now = this.#now();
    if (now < this.#end) return false;
    const left = this.#processorEnd - processorMs();
    // The processor time does not pass faster than time, so there is no need to read it again before.
    this.#end = now + left;
    return left <= 0;
  }
}

/** Starts the time limit for diagnosing a body of this size. */
export type DiagnosisBudget = (bytes: number) => Deadline;

const SMALL_BODY_BYTES = 32 * 1024;
const SMALL_BODY_MS = 20;
const MOST_MS = 200;

/**
 * Limits diagnoses to 20 ms up to 32 KB, proportionally more above, and at most 200 ms (contract, Signature). A diagnosis
 * blocks the event loop, and anyone who can send a request can cause one.
 */
export function diagnosisBudget(now?: () => number): DiagnosisBudget {
  return (bytes) => {
    const share = Math.max(1, bytes / SMALL_BODY_BYTES);
    return new Deadline(Math.min(MOST_MS, Math.round(SMALL_BODY_MS * share)), now);
  };
}
