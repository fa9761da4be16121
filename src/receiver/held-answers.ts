import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';

export interface Hold {
  /** When to give the answer after all. Without it: never, for as long as the sender stays. */
  readonly due?: { readonly afterMs: number; readonly give: () => void };
  /** Its sender, or the receiver, left first. */
  readonly onLeft: () => void;
}

/** The answers that wait: until they are due, their sender leaves or the receiver closes, whatever comes first. */
export class HeldAnswers {
  readonly #clock: Clock;
  readonly #leave = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(response: ServerResponse, { due, onLeft }: Hold): void {
    let cancel: (() => void) | undefined;
    const end = (then: () => void): void => {
      cancel?.();
      this.#leave.delete(leave);
      response.off('close', leave);
      then();
    };
    const leave = (): void => end(onLeft);
    response.on('close', leave);
    this.#leave.add(leave);
    if (due !== undefined) cancel = this.#clock.after(due.afterMs, () => end(due.give));
  }

  /** Gives up all of them; their connections are the caller's to close. */
  release(): void {
    for (const leave of this.#leave) leave();
  }
}
