import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import type { IngestTarget } from './ingest-target.ts';
import { errorFields, type ServiceLog } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Seen } from './seen.ts';
import type { SortedMessages } from './sort-messages.ts';
import { KeyedMutex } from './keyed-mutex.ts';

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
    log.error('messages were stored, but will not be recognised if they come again', {
      source,
      ...errorFields(remembered.reason),
    });
  }
}

function namedIds(messages: readonly OutgoingMessage[]): readonly string[] {
  return messages.flatMap(({ dedupeKey, messageId }) => (dedupeKey === undefined ? [] : messageId));
}
