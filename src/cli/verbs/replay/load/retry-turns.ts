/** Queue of retries. Each retry takes the place of a message that is due, so that retries do not raise the rate. */
export class RetryTurns {
  readonly #pauses = new Map<NodeJS.Timeout, () => void>();
  #ready: (() => void)[] = [];
  #hasTurns = true;
  #isEnded = false;

  /** Waits for `ms`, and then until the retry may start. */
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

  /** Starts the retry that has been ready longest. Returns false if no retry is ready. */
  take(): boolean {
    const resolve = this.#ready.shift();
    resolve?.();
    return resolve !== undefined;
  }

  /** Makes retries wait for turns, because messages are due from now on. */
  open(): void {
    this.#hasTurns = true;
  }

  /** Lets retries start without a turn, because no more messages are due. */
  release(): void {
    this.#hasTurns = false;
    for (const resolve of this.#ready.splice(0)) resolve();
  }

  /** Ends all waits. Later calls of `wait` resolve at once. */
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
