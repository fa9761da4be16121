import { ReusableMap } from '../../reusable-map.ts';

/** How much may be under way at once. What is under way costs memory, all the more as it grows old. */
export interface CapacityLimits {
  /** Different users: more than the engine works on at once. */
  readonly users: number;
  /** Messages, those included that wait for an earlier one of their user, so that a slow user does not hold up the others. */
  readonly messages: number;
  readonly bytes: number;
}

/** What may be waited for. */
type Change = 'room' | 'empty';

/** There is room again when so much of the limits is in use: what comes then comes in batches, not one by one. */
const LOW = 3 / 4;

/** Counts what is under way, and lets a reader wait until there is room again. */
export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #messagesOf = new ReusableMap<number>();
  /** Each like a user of its own. */
  #ofNobody = 0;
  #messages = 0;
  #bytes = 0;
  #waiter: { readonly change: Change; readonly wake: () => void } | undefined;

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#uses(1);
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

  /** Whoever waits is woken at the end of this turn of the event loop, after all that comes to an end in it. */
  give(bytes: number, orderKeys: readonly string[]): void {
    this.#messages--;
    this.#bytes -= bytes;
    if (orderKeys.length === 0) this.#ofNobody--;
    for (const key of orderKeys) this.#leave(key);
    if (this.#waiter === undefined || !this.#has(this.#waiter.change)) return;
    setImmediate(this.#waiter.wake);
    this.#waiter = undefined;
  }

  /** Resolves soon after there is room again, or nothing is under way; or when `signal` aborts. One waiter at a time. */
  async until(change: Change, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#has(change)) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiter = { change, wake };
      signal.addEventListener('abort', wake);
    });
  }

  #has(change: Change): boolean {
    return change === 'room' ? !this.#uses(LOW) : this.isEmpty;
  }

  /** Whether so much of one of the limits is in use. */
  #uses(share: number): boolean {
    const { users, messages, bytes } = this.#limits;
    return (
      this.#messagesOf.size + this.#ofNobody >= users * share ||
      this.#messages >= messages * share ||
      this.#bytes >= bytes * share
    );
  }

  #leave(key: string): void {
    const left = (this.#messagesOf.get(key) ?? 0) - 1;
    if (left > 0) this.#messagesOf.set(key, left);
    else this.#messagesOf.delete(key);
  }
}
