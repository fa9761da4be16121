import { QueueError } from '../../../errors.ts';

interface GatheredWritesOptions<T> {
  /** Writes all items or none. */
  readonly write: (items: readonly T[]) => Promise<void>;
  /** Maximum items in one write. A single call may exceed it. */
  readonly most: number;
}

interface WaitingCall<T> {
  readonly items: readonly T[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of full writes that wait. Further calls are rejected, because their items would be written too late. */
const WRITES_WAITING = 10;

/** Writes items. Those that arrive during a write are gathered for the next one, so that they wait for the disk once. */
export class GatheredWrites<T> {
  readonly #options: GatheredWritesOptions<T>;
  readonly #waiting: WaitingCall<T>[] = [];
  #waitingItems = 0;
  #isWriting = false;

  constructor(options: GatheredWritesOptions<T>) {
    this.#options = options;
  }

  async write(items: readonly T[]): Promise<void> {
    if (this.#waitingItems > WRITES_WAITING * this.#options.most) {
      throw new QueueError('The queue is busy: too many messages wait to be stored', {
        hint: 'send less at once, or give the database faster disks',
        isBusy: true,
      });
    }
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
  #next(): readonly WaitingCall<T>[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ items }, index) => {
      count += items.length;
      return index > 0 && count > this.#options.most;
    });
    const next = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    for (const { items } of next) this.#waitingItems -= items.length;
    return next;
  }

  async #writeTogether(calls: readonly WaitingCall<T>[]): Promise<void> {
    try {
      await this.#options.write(calls.flatMap(({ items }) => items));
      for (const { resolve } of calls) resolve();
    } catch (error) {
      if (calls.length > 1 && isOfOne(error)) {
        for (const each of calls) await this.#writeTogether([each]);
      } else for (const { reject } of calls) reject(error);
    }
  }
}

/** Whether a single item may have caused the error of a write: the server could be reached, but rejected the statement. */
export function isOfOne(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }; // of any thrown value
  return typeof code === 'string' && /^(?:2|4|54|P0|XX|BM)[0-9A-Z]+$/.test(code);
}
