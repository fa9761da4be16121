import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Server } from './server.ts';
import { SEEN_FOR_MS, type Seen } from '../../service/ingest/seen.ts';

/**
 * Stores a fact for each message, which expires at the end of its retention. The fact is put after the
 * deliveries are added: after a kill in between, a repeated message is accepted again, and no message is
 * known that was not stored.
 */
export class ServerSeen implements Seen {
  readonly #server: Server;
  readonly #clock: Clock;

  constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  async among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    const times = await this.#server.facts.get(messageIds.map((id) => factName(source, id)));
    return new Set(messageIds.filter((_, index) => Number(times[index] ?? -Infinity) > since));
  }

  async add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void> {
    await stored;
    const now = Math.floor(this.#clock.now());
    const fact = { text: String(now), expiresAt: now + SEEN_FOR_MS };
    await this.#server.facts.put(messageIds.map((id) => ({ ...fact, name: factName(source, id) })));
  }
}

/**
 * 132 bits of SHA-256: short, because one is stored per message of a day, and long enough that collisions do
 * not occur.
 */
function factName(source: string, messageId: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([source, messageId]))
    .digest('base64url');
  return `seen:${digest.slice(0, 22)}`;
}
