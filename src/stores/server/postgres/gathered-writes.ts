import { QueueError } from '../../../errors.ts';

export interface GatheredWritesOptions<T> {
  /** Writes all items or none. */
  readonly write: (items: readonly T[]) => Promise<void>;
  /** Maximum items in one write. A single call may exceed it. */
  readonly most: number;
}

interface WaitingWrite<T> {
  readonly items: readonly T[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Maximum items that wait for a write, as a multiple of the `most` items of a write. Further calls are rejected, because
 * they would be confirmed too late.
 */
const WRITES_WAITING = 10;

/**
 * Gathers the items that arrive during a write into the next write, so that one commit waits for the disk for
 * all of them.
 */
export class GatheredWrites<T> {
  readonly #options: GatheredWritesOptions<T>;
  readonly #waiting: WaitingWrite<T>[] = [];
  #waitingItems = 0;
  #isWriting = false;

  constructor(options: GatheredWritesOptions<T>) {
    this.#options = options;
  }

  async write(items: readonly T[]): Promise<void> {
    if (this.#waitingItems > WRITES_WAITING * this.#options.most) throw busyError();
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ items, resolve, reject });
      this.#waitingItems += items.length;
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) await this.#writeTogether(this.#next());
    this.#isWriting = false;
  }

  /** Takes the calls for the next write, in order of arrival. Never splits the items of one call. */
  #next(): readonly WaitingWrite<T>[] {
    const next: WaitingWrite<T>[] = [];
    for (let count = 0; ;) {
      const [first] = this.#waiting;
      count += first?.items.length ?? 0;
      if (first === undefined || (next.length > 0 && count > this.#options.most)) break;
      next.push(first);
      this.#waiting.shift();
      this.#waitingItems -= first.items.length;
    }
    return next;
  }

  async #writeTogether(together: readonly WaitingWrite<T>[]): Promise<void> {
    try {
      await this.#options.write(together.flatMap(({ items }) => items));
      for (const { resolve } of together) resolve();
    } catch (error) {
      if (together.length > 1 && isOfOne(error)) {
        for (const each of together) await this.#writeTogether([each]);
      } else for (const { reject } of together) reject(error);
    }
  }
}

/** Whether one of several items may have caused the error: the server can be reached, but rejected the statement. */
export function isOfOne(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }; // of any thrown value
  return typeof code === 'string' && /^(?:2|4|54|P0|XX|BM)[0-9A-Z]+$/.test(code);
}

/** The error for a server that works, but cannot store more at the moment. */
function busyError(): QueueError {
  return new QueueError('The queue is busy: too many messages wait to be stored', {
    hint: 'send less at once, or give the database faster disks',
    isBusy: true,
  });
}
