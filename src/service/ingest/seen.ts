import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';

/** How long a message is recognised when it comes again. */
export const SEEN_FOR_MS = 24 * 60 * 60 * 1000;

/** Remembers which messages were accepted, by source and `messageId`, in the last 24 hours. */
export interface Seen {
  /** The ids among `messageIds` that were accepted. */
  among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Remembers messages that are being stored: both or neither. Over the store that they go to, it is written in the
   * turn of the event loop in which this is called, and so in their transaction; elsewhere once `stored` has resolved.
   */
  add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void>;
}

/** Lasts as long as its process, and remembers the latest `capacity` messages: some hundred bytes each. */
export class MemorySeen implements Seen {
  readonly #clock: Clock;
  readonly #capacity: number;
  /** In the order of their time, as a Map keeps it. */
  readonly #takenAt = new Map<string, number>();

  constructor(clock: Clock, capacity = 200_000) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#takenAt.size;
  }

  async among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    return new Set(messageIds.filter((id) => (this.#takenAt.get(keyOf(source, id)) ?? -Infinity) > since));
  }

  async add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void> {
    await stored;
    const now = this.#clock.now();
    for (const id of messageIds) {
      const key = keyOf(source, id);
      this.#takenAt.delete(key);
      this.#takenAt.set(key, now);
    }
    this.#forget(now - SEEN_FOR_MS);
  }

  #forget(until: number): void {
    for (const [key, at] of this.#takenAt) {
      if (at > until && this.#takenAt.size <= this.#capacity) return;
      this.#takenAt.delete(key);
    }
  }
}

function keyOf(source: string, messageId: string): string {
  return JSON.stringify([source, shortId(messageId)]);
}

const LONGEST_ID = 64;

/**
 * A NUL, after which some drivers read no further, and half of a surrogate pair, which UTF-8 cannot have: another id would be
 * taken for it.
 */
const UNKEEPABLE = /\0|\p{Surrogate}/u;

/** An id may be as long as a message; a digest takes the place of a long one, and of one that a store would change. */
export function shortId(messageId: string): string {
  if (messageId.length <= LONGEST_ID && !UNKEEPABLE.test(messageId)) return messageId;
  return `sha256:${createHash('sha256').update(messageId, 'utf16le').digest('base64url')}`;
}
