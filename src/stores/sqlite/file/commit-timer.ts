/** Milliseconds that a write with `mayWait` waits for another write. */
const GATHER_MS = 4;

/** Starts the commit of the writes that wait: after this turn of the event loop, or later if none of them is urgent. */
export class CommitTimer {
  readonly #commit: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isUrgent = false;

  constructor(commit: () => void) {
    this.#commit = commit;
  }

  /** Schedules the commit, or makes a scheduled one urgent. */
  schedule({ mayWait }: { readonly mayWait: boolean }): void {
    if (this.#isUrgent || (mayWait && this.#timer !== undefined)) return;
    clearTimeout(this.#timer);
    this.#isUrgent = !mayWait;
    this.#timer = mayWait ? setTimeout(() => this.#run(), GATHER_MS) : undefined;
    if (!mayWait) setImmediate(() => this.#run());
  }

  #run(): void {
    this.#timer = undefined;
    this.#isUrgent = false;
    this.#commit();
  }
}
