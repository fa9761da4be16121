/** Limits on the messages in flight. */
export interface ReplayLimits {
  /**
   * Maximum messages in flight, including those that wait for an earlier message of the same user. Exceeds the number of
   * concurrent attempts, so that a slow user delays other users less. A limit four times as large took a quarter more
   * memory and a tenth more CPU time with 20 users, because waiting messages grow old in the heap.
   */
  readonly messages: number;
  readonly bytes: number;
}

/** Maximum bytes of the bodies of all messages in flight. */
const MAX_BYTES_IN_FLIGHT = 8 * 1024 * 1024;

/** The limits of a replay whose pipeline makes `concurrency` attempts at once and holds `maxQueued` messages. */
export function replayLimits({
  concurrency,
  maxQueued,
}: {
  readonly concurrency: number;
  readonly maxQueued: number;
}): ReplayLimits {
  // At most `maxQueued`, so that the client never rejects a message because its queue is full.
  return { messages: Math.min(Math.max(64, concurrency * 3), maxQueued), bytes: MAX_BYTES_IN_FLIGHT };
}

/** Changes that a reader may wait for: room for more messages, or no messages in flight. */
type AwaitedChange = 'room' | 'empty';

/**
 * Share of each limit. A waiting reader continues when less than this share is in use, so that messages are read in
 * batches.
 */
const LOW = 3 / 4;

/**
 * Counts the messages in flight, and lets a reader wait until there is room again. Not a `WeightedSemaphore`,
 * because it has two limits and wakes the reader for a batch, not for a single message.
 */
export class ReplaySemaphore {
  readonly #limits: ReplayLimits;
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

  take(bytes: number): void {
    this.#messages++;
    this.#bytes += bytes;
  }

  /**
   * Releases one message. Wakes the waiting reader at the end of this turn of the event loop, after all messages that
   * settle in the same turn.
   */
  give(bytes: number): void {
    this.#messages--;
    this.#bytes -= bytes;
    if (this.#waiter === undefined || !this.#has(this.#waiter.change)) return;
    setImmediate(this.#waiter.wake);
    this.#waiter = undefined;
  }

  /**
   * Resolves soon after `change` happens (room for another message, or nothing in flight), or when `signal`
   * aborts. Supports one waiter at a time.
   */
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

  /** Whether at least this share of the limit on messages, or of the limit on bytes, is in use. */
  #uses(share: number): boolean {
    const { messages, bytes } = this.#limits;
    return this.#messages >= messages * share || this.#bytes >= bytes * share;
  }
}
