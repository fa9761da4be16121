import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import { errorFields } from '../log.ts';
import type { ServiceOptions } from '../options.ts';
import type { RejectedBatchItem, SortedMessages } from './sort-messages.ts';

type IngestParts = Pick<ServiceOptions, 'ingestTarget' | 'seen' | 'metrics' | 'log'>;

/** Stores messages without duplicates. A message is accepted only after it is stored. */
export class Ingest {
  readonly #parts: IngestParts;
  readonly #storing = new KeyedMutex();

  constructor(parts: IngestParts) {
    this.#parts = parts;
  }

  /**
   * Stores new messages and dead letters. Rejects if any message could not be stored; then no message is remembered as seen.
   */
  async store(source: string, { valid, rejected }: SortedMessages): Promise<void> {
    const { metrics } = this.#parts;
    const unlock = await this.#storing.lock(namedIds(valid).map((id) => JSON.stringify([source, id])));
    try {
      const fresh = await this.#fresh(source, valid);
      // Stores dead letters first: if storing the messages then fails, the client's retry makes letters with the same ids,
      // which are not stored twice.
      await this.keep(source, rejected);
      const accepted = fresh.length > 0 ? await this.#submit(source, fresh) : 0;
      metrics.ingested(source, {
        accepted,
        duplicate: valid.length - accepted,
        rejected: rejected.length,
      });
    } finally {
      unlock();
    }
  }

  /** Stores rejected messages as dead letters: invalid ones without a destination, unplanned ones for each destination. */
  async keep(source: string, rejected: readonly RejectedBatchItem[]): Promise<void> {
    const { ingestTarget, metrics } = this.#parts;
    const letters = rejected.flatMap(({ letter }) => letter ?? []);
    const unplanned = rejected.flatMap((each) => each.unplanned ?? []);
    if (letters.length > 0) {
      await ingestTarget.keepInvalid(source, letters);
      metrics.kept(source, 'invalid', letters.length);
    }
    if (unplanned.length > 0) {
      await ingestTarget.submit(source, unplanned);
      metrics.kept(source, 'unplanned', unplanned.length);
    }
  }

  /**
   * The messages that the source has not accepted before; if the queue finds those itself, all. If the batch repeats an id,
   * only its first message is returned.
   */
  async #fresh(source: string, valid: readonly OutgoingMessage[]): Promise<readonly OutgoingMessage[]> {
    const { seen } = this.#parts;
    const ids = seen.add === undefined ? [] : namedIds(valid);
    const taken = new Set(ids.length === 0 ? [] : await seen.among(source, ids));
    return valid.filter(({ dedupeKey, messageId }) => {
      if (dedupeKey === undefined) return true;
      const isNew = !taken.has(messageId);
      taken.add(messageId);
      return isNew;
    });
  }

  /**
   * Stores messages and remembers their ids. Resolves even if remembering fails, because the client would retry a rejected
   * batch and store every message twice. Returns the number of messages that were new.
   */
  async #submit(source: string, fresh: readonly OutgoingMessage[]): Promise<number> {
    const { ingestTarget, seen, log } = this.#parts;
    const ids = namedIds(fresh);
    const storing = ingestTarget.submit(source, fresh);
    const remembering = ids.length === 0 ? undefined : seen.add?.(source, ids, storing);
    const [stored, remembered] = await Promise.allSettled([storing, remembering]);
    if (stored.status === 'rejected') throw stored.reason;
    if (remembered.status === 'rejected') {
      log.error('messages were stored, but will not be recognized if they come again', {
        source,
        ...errorFields(remembered.reason),
      });
    }
    return stored.value.filter(({ isKnown }) => isKnown !== true).length;
  }
}

function namedIds(messages: readonly OutgoingMessage[]): readonly string[] {
  return messages.flatMap(({ dedupeKey, messageId }) => (dedupeKey === undefined ? [] : messageId));
}

/**
 * A lock per key. After a timeout a client sends a batch again while the first request is still being stored: the second
 * request must not overtake the first, nor be acknowledged before it.
 */
class KeyedMutex {
  readonly #locks = new Map<string, Promise<void>>();

  /** Waits until none of the keys is locked, then locks all of them at once. Returns the function that unlocks them. */
  async lock(keys: readonly string[]): Promise<() => void> {
    for (let others = this.#othersAt(keys); others.length > 0; others = this.#othersAt(keys)) {
      await Promise.all(others);
    }
    let release: (() => void) | undefined;
    const lock = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const key of keys) this.#locks.set(key, lock);
    return () => {
      for (const key of keys) this.#locks.delete(key);
      release?.();
    };
  }

  #othersAt(keys: readonly string[]): readonly Promise<void>[] {
    return keys.flatMap((key) => this.#locks.get(key) ?? []);
  }
}
