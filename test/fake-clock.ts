import type { Clock } from '../src/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that tests move. Callbacks run in order of their time; promises settle between them. */
export class FakeClock implements Clock {
  /** Elapsed time in ms, which determines when callbacks run. */
  #elapsed = 0;
  /** Difference between `now` and the elapsed time. Ms. */
  #aheadMs: number;
  #skips: { readonly at: number; readonly ms: number }[] = [];
  /** Timers in the order in which they are due. */
  readonly #timers: Timer[] = [];

  constructor(startAt = Date.UTC(2026, 0, 1)) {
    this.#aheadMs = startAt;
  }

  now(): number {
    return this.#elapsed + this.#aheadMs;
  }

  skipped(since: number): number {
    return this.#skips.reduce((sum, { at, ms }) => (at >= since ? sum + ms : sum), 0);
  }

  reach(time: number): void {
    this.#aheadMs += Math.max(0, time - this.now());
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, ms), callback };
    const place = this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1;
    this.#timers.splice(place, 0, timer);
    return () => this.#remove(timer);
  }

  /** Advances by `ms` and runs due callbacks; after each it lets promises settle. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settled();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#remove(next);
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.callback();
      await settled();
    }
    this.#elapsed = end;
  }

  /** Advances to the next due timer, by `atMostMs` at most. */
  async advanceToNext(atMostMs: number): Promise<void> {
    await settled();
    const nextAt = this.#timers[0]?.at ?? Infinity;
    await this.advance(Math.min(atMostMs, Math.max(0, nextAt - this.#elapsed)));
  }

  /** Simulates a suspended process: callbacks that were due meanwhile run at the end. */
  async suspend(ms: number): Promise<void> {
    this.#elapsed += ms;
    await this.advance(0);
  }

  /** Simulates a wall clock that is set forward, which does not run callbacks earlier. */
  setForward(ms: number): void {
    this.#skips.push({ at: this.now(), ms });
    this.#aheadMs += ms;
  }

  get pendingTimers(): number {
    return this.#timers.length;
  }

  #next(end: number): Timer | undefined {
    const [first] = this.#timers;
    return first !== undefined && first.at <= end ? first : undefined;
  }

  #remove(timer: Timer): void {
    const place = this.#timers.indexOf(timer);
    if (place !== -1) this.#timers.splice(place, 1);
  }
}

/** Lets all promises settle that do not depend on time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
