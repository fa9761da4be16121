import { QueueError } from '../../../errors.ts';

export interface GatheredWritesOptions<T> {
  /** All or none of them. */
  readonly write: (items: readonly T[]) => Promise<void>;
  /** Items in one write. */
  readonly most: number;
}

interface WaitingWrite<T> {
  readonly items: readonly T[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The most writes that wait. More are rejected: what comes faster than it is written would be confirmed too late. */
const WRITES_WAITING = 10;

/** Writes together what comes while a write is in flight, so that one commit waits for the disk for all of it. */
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

  /** The entries of the next write, in the order in which they came; never one of them in two writes. */
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

/** Whether one of several may have caused it for all: the server rejected what was sent, and can be reached. */
export function isOfOne(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }; // of any thrown value
  return typeof code === 'string' && /^(?:2|4|54|P0|XX|BM)[0-9A-Z]+$/.test(code);
}

/** What serves others too is well, and takes no more at the moment. */
function busyError(): QueueError {
  return new QueueError('The queue is busy: more waits to be stored than it stores in time', {
    hint: 'send less at once, or give the database faster disks',
    isBusy: true,
  });
}
