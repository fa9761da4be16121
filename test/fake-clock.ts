import type { Clock } from '../src/clock.ts';

/** A clock that moves only when told. Callbacks run in order of their time; promises settle between them. */
export class FakeClock implements Clock {
  #now: number;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  constructor(startAt = Date.UTC(2026, 0, 1)) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves on by `ms`, running what falls due on the way, each followed by whatever it set in motion. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = next.at;
      next.callback();
      await settled();
    }
    this.#now = end;
  }

  get pendingTimers(): number {
    return this.#timers.length;
  }

  #next(end: number) {
    return this.#timers.filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0];
  }
}

/** Lets every promise that can settle without time passing do so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
