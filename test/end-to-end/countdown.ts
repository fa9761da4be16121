const LONGEST_MS = 60_000;

/** Counts events. Callers can wait for further events, and continue in the turn of the event loop of the last one. */
export class Countdown {
  readonly #waiting = new Set<{ left: number; readonly resolve: () => void }>();

  /** Counts an event. */
  count(): void {
    for (const each of this.#waiting) {
      if (--each.left > 0) continue;
      this.#waiting.delete(each);
      each.resolve();
    }
  }

  /** Waits for this many further events, or until `stop` is aborted. Rejects after a minute. */
  async after(times: number, stop: AbortSignal): Promise<void> {
    const limit = AbortSignal.timeout(LONGEST_MS);
    const either = AbortSignal.any([stop, limit]);
    await new Promise<void>((resolve) => {
      this.#waiting.add({ left: times, resolve });
      either.addEventListener('abort', () => resolve());
      if (either.aborted) resolve();
    });
    if (limit.aborted) throw new Error(`waited in vain for ${times} answers more`);
  }
}
