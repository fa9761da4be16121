import { ReusableMap } from '../reusable-map.ts';

/** Limits of what is in flight at once. A message in flight costs memory, and more as it grows old. */
export interface ReplayLimits {
  /** Different users; more than the engine works on at once. */
  readonly users: number;
  /** Messages, including those that wait for an earlier one of their user, so that a slow user does not hold up the others. */
  readonly messages: number;
  readonly bytes: number;
}

/** At most this much body text is in memory, however long the messages are. */
const MAX_BYTES_IN_FLIGHT = 8 * 1024 * 1024;

/** The limits of a replay whose pipeline makes `concurrency` attempts at once and holds `maxQueued` messages. */
export function replayLimits({
  concurrency,
  maxQueued,
}: {
  readonly concurrency: number;
  readonly maxQueued: number;
}): ReplayLimits {
  const users = Math.max(64, concurrency * 3);
  // No more messages than the client has room for, so that none is rejected.
  return { users, messages: Math.min(users * 4, maxQueued), bytes: MAX_BYTES_IN_FLIGHT };
}

/** What a reader may wait for. */
type AwaitedChange = 'room' | 'empty';

/** There is room again when this share of the limits is in use, so that messages come in batches, not one by one. */
const LOW = 3 / 4;

/**
 * Counts what is in flight, and lets a reader wait until there is room again. Not a `WeightedSemaphore`: it has three limits, of which
 * users are counted once however many of their messages there are, and it wakes the reader for a batch, not for a single message.
 */
export class ReplaySemaphore {
  readonly #limits: ReplayLimits;
  readonly #messagesOf = new ReusableMap<number>();
  /** Messages without a user, each of which counts like a user. */
  #withoutUser = 0;
  #messages = 0;
  #bytes = 0;
  #waiter: { readonly change: AwaitedChange; readonly wake: () => void } | undefined;

  constructor(limits: ReplayLimits) {
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
    if (orderKeys.length === 0) this.#withoutUser++;
    for (const key of orderKeys) this.#messagesOf.set(key, (this.#messagesOf.get(key) ?? 0) + 1);
  }

  /** Wakes the reader at the end of this turn of the event loop, after all messages that settle in it. */
  give(bytes: number, orderKeys: readonly string[]): void {
    this.#messages--;
    this.#bytes -= bytes;
    if (orderKeys.length === 0) this.#withoutUser--;
    for (const key of orderKeys) this.#leave(key);
    if (this.#waiter === undefined || !this.#has(this.#waiter.change)) return;
    setImmediate(this.#waiter.wake);
    this.#waiter = undefined;
  }

  /** Resolves soon after there is room again, or nothing is in flight; or when `signal` aborts. One waiter at a time. */
  async until(change: AwaitedChange, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || this.#has(change)) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiter = { change, wake };
      signal?.addEventListener('abort', wake);
    });
  }

  #has(change: AwaitedChange): boolean {
    return change === 'room' ? !this.#uses(LOW) : this.isEmpty;
  }

  /** Whether this share of one of the limits is in use. */
  #uses(share: number): boolean {
    const { users, messages, bytes } = this.#limits;
    return (
      this.#messagesOf.size + this.#withoutUser >= users * share ||
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
