import type { Clock } from '../clock.ts';

interface ResponseWatchOptions {
  /** Maximum time without any response while messages are waiting for one. */
  readonly limitMs: number;
  readonly onSilence: () => void;
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

/** Detects a receiver that has stopped responding, for `--give-up-after`. */
export class ResponseWatch {
  readonly #options: ResponseWatchOptions;
  readonly #silence = new AbortController();
  #waiting = 0;
  #since = 0;
  #cancel: () => void;

  constructor(options: ResponseWatchOptions) {
    const { limitMs, clock } = options;
    this.#options = options;
    this.#cancel = clock.after(limitMs, this.#look);
  }

  /** Aborts after `limitMs` without any response, if messages were waiting for one all that time. */
  get signal(): AbortSignal {
    return this.#silence.signal;
  }

  /** Counts a message as waiting for its response. Starts the time limit if no other message is waiting. */
  sent(): void {
    if (this.#waiting++ === 0) this.responded();
  }

  /** Restarts the time limit. Called for each response, whatever its status. */
  responded(): void {
    this.#since = this.#options.clock.now();
  }

  /** Counts a message as no longer waiting. If it was delivered, restarts the time limit as a response does. */
  settled({ isDelivered }: { readonly isDelivered: boolean }): void {
    this.#waiting--;
    if (isDelivered) this.responded();
  }

  stop(): void {
    this.#cancel();
  }

  readonly #look = (): void => {
    const { limitMs, onSilence, clock } = this.#options;
    const leftMs = this.#waiting > 0 ? this.#since + limitMs - clock.now() : limitMs;
    if (leftMs > 0) {
      this.#cancel = clock.after(leftMs, this.#look);
      return;
    }
    onSilence();
    this.#silence.abort();
  };
}
