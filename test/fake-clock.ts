import type { Clock } from '../src/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that moves only when told. Callbacks run in order of their time; promises settle between them. */
export class FakeClock implements Clock {
  /** What callbacks go by. */
  #elapsed = 0;
  /** Of `now` before it. */
  #aheadMs: number;
  #skips: { readonly at: number; readonly ms: number }[] = [];
  /** In the order in which they fall due. */
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

  /** Moves on by `ms`, running what falls due on the way, each followed by whatever it set in motion. */
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

  /** Moves on to the time at which something falls due, by `atMostMs` at most. */
  async advanceToNext(atMostMs: number): Promise<void> {
    await settled();
    const nextAt = this.#timers[0]?.at ?? Infinity;
    await this.advance(Math.min(atMostMs, Math.max(0, nextAt - this.#elapsed)));
  }

  /** As when the process is stopped for so long: what falls due meanwhile is called back at the end. */
  async suspend(ms: number): Promise<void> {
    this.#elapsed += ms;
    await this.advance(0);
  }

  /** As when the wall clock is set forward: nothing is called back sooner. */
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

/** Lets every promise that can settle without time passing do so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
