import type { Clock } from '../../clock.ts';
import { factName, type Server } from './server.ts';
import { SEEN_FOR_MS, shortId, type KeptSeen, type SeenMessage } from '../../service/ingest/seen.ts';

/** Remembers each message as a fact, written after its deliveries: if the process is killed in between, none is lost. */
export class ServerSeen implements KeptSeen {
  readonly #server: Server;
  readonly #clock: Clock;

  constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  async among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    const times = await this.#server.facts.get(messageIds.map((id) => seenName(source, id)));
    return new Set(messageIds.filter((_, index) => Number(times[index] ?? -Infinity) > since));
  }

  async add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void> {
    await stored;
    const now = Math.floor(this.#clock.now());
    const fact = { text: String(now), expiresAt: now + SEEN_FOR_MS };
    await this.#server.facts.put(messageIds.map((id) => ({ ...fact, name: seenName(source, id) })));
  }

  async restore(messages: readonly SeenMessage[]): Promise<void> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    const facts = messages
      .filter(({ acceptedAt }) => acceptedAt > since)
      .map(({ source, messageId, acceptedAt }) => ({
        name: seenName(source, messageId),
        text: String(Math.floor(acceptedAt)),
        expiresAt: Math.floor(acceptedAt) + SEEN_FOR_MS,
      }));
    if (facts.length === 0) return;
    const known = await this.#server.facts.get(facts.map(({ name }) => name));
    const unknown = facts.filter((_, index) => known[index] === undefined);
    if (unknown.length > 0) await this.#server.facts.put(unknown);
  }
}

/**
 * Names the fact of a message by 132 bits of SHA-256: short, because a day of facts is stored, but without collisions. Of a
 * long id, the digest is named, because files keep only that one.
 */
function seenName(source: string, messageId: string): string {
  return factName('seen', [source, shortId(messageId)], 22);
}
