import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { forgetDue, type Series, type Server } from './server.ts';
import { SEEN_FOR_MS, type Seen } from '../../service/ingest/seen.ts';

const SERIES = 'hooks-seen';
/** Forgotten with each message that is remembered, so that what is old goes faster than what is new comes. */
const FORGOTTEN_AT_ONCE = 2;

/**
 * An entry for each message, which falls due at the end of its retention. It is added once the deliveries are: a process that
 * is killed in between takes the message again when it comes again, and never knows one that it did not store.
 */
export class ServerSeen implements Seen {
  readonly #server: Server;
  readonly #series: Series;
  readonly #clock: Clock;

  constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#series = server.series(SERIES);
    this.#clock = clock;
  }

  async among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const entries = await this.#series.getAll(messageIds.map((id) => entryId(source, id)));
    const since = this.#clock.now() - SEEN_FOR_MS;
    // One that is there would not be added again, with its new time.
    const old = entries.flatMap((entry) => (entry !== undefined && entry.addedAt <= since ? entry.id : []));
    await this.#series.removeAll(old);
    return new Set(messageIds.filter((_, index) => (entries[index]?.addedAt ?? -Infinity) > since));
  }

  async add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void> {
    await stored;
    const addedAt = Math.floor(this.#clock.now());
    const entries = messageIds.map((messageId) => ({
      series: SERIES,
      id: entryId(source, messageId),
      name: 'seen',
      text: '{}',
      addedAt,
      dueAt: addedAt + SEEN_FOR_MS,
    }));
    await this.#server.add(entries);
    // Not awaited: a failure here happens again where it is reported.
    forgetDue(this.#series, entries.length * FORGOTTEN_AT_ONCE).catch(() => {});
  }
}

function entryId(source: string, messageId: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([source, messageId]))
    .digest('base64url');
  return `s-${digest}`;
}
