import { elapsedMs } from '../../clock.ts';

/** The end of the time that a diagnosis may take. */
export class Deadline {
  /** The whole time allowed. */
  readonly budgetMs: number;
  readonly #now: () => number;
  readonly #end: number;

  /** `now` returns the time in ms and never goes back. */
  constructor(budgetMs: number, now: () => number = elapsedMs) {
    this.budgetMs = budgetMs;
    this.#now = now;
    this.#end = now() + budgetMs;
  }

  get isOver(): boolean {
    return this.#now() >= this.#end;
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
export function diagnosisBudget(now: () => number = elapsedMs): DiagnosisBudget {
  return (bytes) => {
    const share = Math.max(1, bytes / SMALL_BODY_BYTES);
    return new Deadline(Math.min(MOST_MS, Math.round(SMALL_BODY_MS * share)), now);
  };
}
