/** Retries that wait for their turn: each takes the place of a message that is due, so that retries do not raise the rate. */
export class RetryTurns {
  readonly #pauses = new Map<NodeJS.Timeout, () => void>();
  #ready: (() => void)[] = [];
  #hasTurns = true;
  #isEnded = false;

  /** Waits for a time, and then for a turn. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isEnded) return resolve();
      const timer = setTimeout(() => {
        this.#pauses.delete(timer);
        if (this.#hasTurns) this.#ready.push(resolve);
        else resolve();
      }, ms);
      this.#pauses.set(timer, resolve);
    });
  }

  /** Gives a turn to the retry that has waited longest. Returns false if none waits for one. */
  take(): boolean {
    const resolve = this.#ready.shift();
    resolve?.();
    return resolve !== undefined;
  }

  /** Begins a time in which messages are due. */
  open(): void {
    this.#hasTurns = true;
  }

  /** No message is due any more: later retries need no turn. */
  release(): void {
    this.#hasTurns = false;
    for (const resolve of this.#ready.splice(0)) resolve();
  }

  /** Ends all waits. */
  end(): void {
    this.#isEnded = true;
    this.release();
    for (const [timer, resolve] of this.#pauses) {
      clearTimeout(timer);
      resolve();
    }
    this.#pauses.clear();
  }
}
