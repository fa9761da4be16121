import type { Clock } from '../../clock.ts';
import { factName, type Server } from './server.ts';
import { SEEN_FOR_MS, type Seen } from '../../service/ingest/seen.ts';

/** Remembers each message as a fact, written after its deliveries: if the process is killed in between, none is lost. */
export class ServerSeen implements Seen {
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
}

/** Names the fact of a message by 132 bits of SHA-256: short, because a day of facts is stored, but without collisions. */
function seenName(source: string, messageId: string): string {
  return factName('seen', [source, messageId], 22);
}
