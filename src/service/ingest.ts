import type { OutgoingMessage } from '../message/outgoing-message.ts';
import type { Intake } from './intake.ts';
import { errorFields, type ServiceLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Seen } from './seen.ts';
import type { Sorted } from './sort-calls.ts';
import { UnderWay } from './keyed-mutex.ts';

interface IngestParts {
  readonly intake: Intake;
  readonly seen: Seen;
  readonly metrics: Metrics;
  readonly log: ServiceLog;
}

/** Takes messages: each once, and none before it is stored. */
export class Ingest {
  readonly #parts: IngestParts;
  readonly #underWay = new UnderWay();

  constructor(parts: IngestParts) {
    this.#parts = parts;
  }

  /** Resolves when all of them are stored. Rejects when they cannot be; then none counts as seen. */
  async store(source: string, { valid, rejected }: Sorted): Promise<void> {
    const { intake, metrics } = this.#parts;
    const leave = await this.#underWay.enter(namedIds(valid).map((id) => JSON.stringify([source, id])));
    try {
      const fresh = await this.#fresh(source, valid);
      // First, since this changes nothing when it is repeated.
      if (rejected.length > 0)
        await intake.keepInvalid(
          source,
          rejected.map(({ letter }) => letter),
        );
      if (fresh.length > 0) await this.#submit(source, fresh);
      metrics.ingested(source, {
        accepted: fresh.length,
        duplicate: valid.length - fresh.length,
        rejected: rejected.length,
      });
    } finally {
      leave();
    }
  }

  /** Those that were not taken before; of several with one id in the batch, the first. */
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

  /** Stored and not remembered is taken all the same: to say otherwise would have it sent once more. */
  async #submit(source: string, fresh: readonly OutgoingMessage[]): Promise<void> {
    const { intake, seen, log } = this.#parts;
    const ids = namedIds(fresh);
    const storing = intake.submit(source, fresh);
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

function namedIds(calls: readonly OutgoingMessage[]): readonly string[] {
  return calls.flatMap(({ dedupeKey, messageId }) => (dedupeKey === undefined ? [] : messageId));
}
