import type { Clock } from '../src/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that only moves by its methods. Callbacks run in the order of their time, and promises settle between them. */
export class FakeClock implements Clock {
  /** Elapsed ms, which decide when callbacks run. */
  #elapsed = 0;
  /** Ms by which `now` is ahead of the elapsed time. */
  #aheadMs: number;
  #skips: { readonly at: number; readonly ms: number }[] = [];
  /** Sorted by their time. */
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

  /** Advances by `ms`. After each due callback, promises that it resolved settle. */
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

  /** Advances to the time of the next callback, at most by `atMostMs`. */
  async advanceToNext(atMostMs: number): Promise<void> {
    await settled();
    const nextAt = this.#timers[0]?.at ?? Infinity;
    await this.advance(Math.min(atMostMs, Math.max(0, nextAt - this.#elapsed)));
  }

  /** Advances as if the process was suspended: all due callbacks run at the end. */
  async suspend(ms: number): Promise<void> {
    this.#elapsed += ms;
    await this.advance(0);
  }

  /** Sets the wall clock forward, which makes no callback due. */
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

/** Waits until all promises have settled that need no further time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
