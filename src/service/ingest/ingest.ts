import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import { errorFields, type ServiceLog } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { IngestTarget } from './ingest-target.ts';
import type { Seen } from './seen.ts';
import type { SortedMessages } from './sort-messages.ts';

interface IngestParts {
  readonly ingestTarget: IngestTarget;
  readonly seen: Seen;
  readonly metrics: Metrics;
  readonly log: ServiceLog;
}

/** Accepts messages: each once, and none before it is stored. */
export class Ingest {
  readonly #parts: IngestParts;
  readonly #storing = new KeyedMutex();

  constructor(parts: IngestParts) {
    this.#parts = parts;
  }

  /** Resolves when all of them are stored. Rejects when they cannot be; then none counts as seen. */
  async store(source: string, { valid, rejected }: SortedMessages): Promise<void> {
    const { ingestTarget, metrics } = this.#parts;
    const unlock = await this.#storing.lock(namedIds(valid).map((id) => JSON.stringify([source, id])));
    try {
      const fresh = await this.#fresh(source, valid);
      // First, since this changes nothing when it is repeated.
      if (rejected.length > 0) {
        await ingestTarget.keepInvalid(
          source,
          rejected.map(({ letter }) => letter),
        );
        metrics.invalid(source, rejected.length);
      }
      if (fresh.length > 0) await this.#submit(source, fresh);
      metrics.ingested(source, {
        accepted: fresh.length,
        duplicate: valid.length - fresh.length,
        rejected: rejected.length,
      });
    } finally {
      unlock();
    }
  }

  /** The messages that were not accepted before; of several with one id in the batch, the first. */
  async #fresh(source: string, valid: readonly OutgoingMessage[]): Promise<readonly OutgoingMessage[]> {
    const ids = namedIds(valid);
    const taken = new Set(ids.length === 0 ? [] : await this.#parts.seen.among(source, ids));
    return valid.filter(({ dedupeKey, messageId }) => {
      if (dedupeKey === undefined) return true;
      const isNew = !taken.has(messageId);
      taken.add(messageId);
      return isNew;
    });
  }

  /** A message that is stored but not remembered counts as accepted: to reject it would have it sent again. */
  async #submit(source: string, fresh: readonly OutgoingMessage[]): Promise<void> {
    const { ingestTarget, seen, log } = this.#parts;
    const ids = namedIds(fresh);
    const storing = ingestTarget.submit(source, fresh);
    const remembering = ids.length === 0 ? undefined : seen.add(source, ids, storing);
    const [stored, remembered] = await Promise.allSettled([storing, remembering]);
    if (stored.status === 'rejected') throw stored.reason;
    if (remembered.status === 'fulfilled') return;
    log.error('messages were stored, but will not be recognized if they come again', {
      source,
      ...errorFields(remembered.reason),
    });
  }
}

function namedIds(messages: readonly OutgoingMessage[]): readonly string[] {
  return messages.flatMap(({ dedupeKey, messageId }) => (dedupeKey === undefined ? [] : messageId));
}

/**
 * A lock per key. A client that has lost patience sends a batch again while the first is still being stored: the second
 * must not overtake it, nor be reported as stored before it is.
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
