/** Limits on the messages that a replay has in flight. */
export interface ReplayLimits {
  /**
   * Maximum messages in flight, including those that wait for an earlier message of the same user. Larger than the number
   * of concurrent attempts, so that a user whose deliveries are slow delays other users less. A limit four times as large
   * took a quarter more memory and a tenth more CPU time with 20 users, because V8 moves objects that live longer to the old
   * generation.
   */
  readonly messages: number;
  /** Maximum bytes of all messages in flight, as they are in the input. */
  readonly bytes: number;
}

const MAX_BYTES_IN_FLIGHT = 8 * 1024 * 1024;

/** Returns the limits of a replay whose pipeline makes `concurrency` attempts at once and holds `maxQueued` messages. */
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

/** Changes to wait for. `room`: less than LOW of both limits is in use. `empty`: no messages are in flight. */
type AwaitedChange = 'room' | 'empty';

/** Share of the limits. Reading continues when less is in use. Lower than 1, so that messages are read in batches. */
const LOW = 3 / 4;

/**
 * Counts the messages in flight and their bytes, and lets the reader of the input wait for room. Not a
 * `WeightedSemaphore`, because there are two limits, and the reader waits for room for a batch, not for one message.
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
   * Releases one message. If the awaited change has happened, wakes the waiter at the end of this turn of the event loop,
   * after all messages that settle in the same turn.
   */
  give(bytes: number): void {
    this.#messages--;
    this.#bytes -= bytes;
    if (this.#waiter === undefined || !this.#has(this.#waiter.change)) return;
    setImmediate(this.#waiter.wake);
    this.#waiter = undefined;
  }

  /** Resolves when `change` has happened, or when `signal` aborts. Supports one waiter at a time. */
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
