import type { Clock } from '../../src/clock.ts';

/** A clock that skips every wait and moves its time forward by it: for waits between real requests. */
export class HurriedClock implements Clock {
  readonly waits: number[] = [];
  #now = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#now;
  }

  skipped(): number {
    return 0;
  }

  reach(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  after(ms: number, callback: () => void): () => void {
    const immediate = setImmediate(() => {
      this.waits.push(ms);
      this.#now += ms;
      callback();
    });
    return () => clearImmediate(immediate);
  }
}
