const LONGEST_MS = 60_000;

/** Lets others wait until something has happened so many times more, and go on in the same turn of the event loop. */
export class Countdown {
  readonly #waiting = new Set<{ left: number; readonly resolve: () => void }>();

  /** It has happened. */
  count(): void {
    for (const each of this.#waiting) {
      if (--each.left > 0) continue;
      this.#waiting.delete(each);
      each.resolve();
    }
  }

  /** Or until `stop` is aborted. Rejects when that takes longer than a minute. */
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
