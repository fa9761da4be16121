import { ChurnMap } from '../../churn-map.ts';

/** How much may be under way at once. What is under way costs memory, all the more as it grows old. */
export interface CapacityLimits {
  /** Different users: more than the engine works on at once. */
  readonly users: number;
  /** Messages, those included that wait for an earlier one of their user, so that a slow user does not hold up the others. */
  readonly messages: number;
  readonly bytes: number;
}

/** Counts what is under way, and lets a reader wait until there is room again. */
export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #messagesOf = new ChurnMap<number>();
  /** Each like a user of its own. */
  #ofNobody = 0;
  #messages = 0;
  #bytes = 0;
  #wake: (() => void) | undefined;

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { users, messages, bytes } = this.#limits;
    return (
      this.#messagesOf.size + this.#ofNobody >= users || this.#messages >= messages || this.#bytes >= bytes
    );
  }

  get isEmpty(): boolean {
    return this.#messages === 0;
  }

  take(bytes: number, orderKeys: readonly string[]): void {
    this.#messages++;
    this.#bytes += bytes;
    if (orderKeys.length === 0) this.#ofNobody++;
    for (const key of orderKeys) this.#messagesOf.set(key, (this.#messagesOf.get(key) ?? 0) + 1);
  }

  /** Whoever waits is woken at the end of this turn of the event loop: once for all that comes to an end in it. */
  give(bytes: number, orderKeys: readonly string[]): void {
    this.#messages--;
    this.#bytes -= bytes;
    if (orderKeys.length === 0) this.#ofNobody--;
    for (const key of orderKeys) this.#leave(key);
    if (this.#wake !== undefined) setImmediate(this.#wake);
    this.#wake = undefined;
  }

  /** Resolves soon after something was given back, or when `signal` aborts. One waiter at a time. */
  async change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        signal.removeEventListener('abort', resolveNow);
        resolve();
      };
      const resolveNow = (): void => this.#wake?.();
      signal.addEventListener('abort', resolveNow);
    });
  }

  #leave(key: string): void {
    const left = (this.#messagesOf.get(key) ?? 0) - 1;
    if (left > 0) this.#messagesOf.set(key, left);
    else this.#messagesOf.delete(key);
  }
}
