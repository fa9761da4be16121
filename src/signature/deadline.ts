import { elapsedMs, processorMs } from '../clock.ts';

/** The end of the time that a diagnosis may take: of the processor's, so that a busy machine does not change what is found. */
export class Deadline {
  /** The whole time allowed. */
  readonly budgetMs: number;
  readonly #now: () => number;
  readonly #end: number;
  readonly #processorEnd: number;

  /** `now` returns the time in ms and never goes back. @default elapsed time, then processor time, whose look takes ten times as long */
  constructor(budgetMs: number, now?: () => number) {
    this.budgetMs = budgetMs;
    this.#now = now ?? elapsedMs;
    this.#end = this.#now() + budgetMs;
    this.#processorEnd = now === undefined ? processorMs() + budgetMs : -Infinity;
  }

  get isOver(): boolean {
    if (this.#now() < this.#end) return false;
    return this.#processorEnd === -Infinity || processorMs() >= this.#processorEnd;
  }
}

/** Starts the time for diagnosing a body of this size. */
export type DiagnosisBudget = (bytes: number) => Deadline;

const SMALL_BODY_BYTES = 32 * 1024;
const SMALL_BODY_MS = 20;
const MOST_MS = 200;

/**
 * Contract, Signature: 20 ms up to 32 KB, in proportion above, 200 ms at most. Diagnosing blocks the event loop, and anyone
 * who can send a request can cause it.
 */
export function diagnosisBudget(now?: () => number): DiagnosisBudget {
  return (bytes) => {
    const share = Math.max(1, bytes / SMALL_BODY_BYTES);
    return new Deadline(Math.min(MOST_MS, Math.round(SMALL_BODY_MS * share)), now);
  };
}
