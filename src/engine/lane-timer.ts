import type { Clock } from '../clock.ts';

interface LaneTimerContext {
  readonly clock: Clock;
  /** Aborted when the engine stops. After that, the timer is never set. */
  readonly stopping: AbortSignal;
}

/** The timer of a lane. If it is set several times, the earliest time counts. */
export class LaneTimer {
  readonly #context: LaneTimerContext;
  readonly #onTime: () => void;
  #set: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(context: LaneTimerContext, onTime: () => void) {
    this.#context = context;
    this.#onTime = onTime;
  }

  /** Sets the timer. A timer for an earlier time stays, because a needless claim costs less than resetting it each time. */
  setFor(at: number): void {
    const { clock, stopping } = this.#context;
    if (at === Infinity || stopping.aborted) return this.cancel();
    if (this.#set !== undefined && this.#set.at <= at) return;
    this.cancel();
    const cancel = clock.after(Math.max(1, Math.ceil(at - clock.now())), () => {
      this.#set = undefined;
      this.#onTime();
    });
    this.#set = { at, cancel };
  }

  cancel(): void {
    this.#set?.cancel();
    this.#set = undefined;
  }
}
