import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Server } from './server.ts';
import { SEEN_FOR_MS, type Seen } from '../../service/ingest/seen.ts';

/**
 * Remembers each message as a fact, which expires after SEEN_FOR_MS. The fact is put after the deliveries of the message
 * are stored. So after a kill in between, a repeated message is accepted again, but a message without deliveries is never
 * taken for a repeated one.
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
 * Names the fact of a message by 132 bits of SHA-256: short, because the facts of a whole day are stored, and long enough
 * that collisions do not occur.
 */
function factName(source: string, messageId: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([source, messageId]))
    .digest('base64url');
  return `seen:${digest.slice(0, 22)}`;
}
