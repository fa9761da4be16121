import type { Clock } from '../clock.ts';
import type { Sql, Store } from '../store/store.ts';
import { writeAlongside } from '../store/write-alongside.ts';
import { SEEN_FOR_MS, shortId, type Seen } from './seen.ts';

/** Forgotten with each message that is remembered, so that what is old goes faster than what is new comes, and nobody waits for it. */
const FORGOTTEN_AT_ONCE = 2;

/** In the file of the queue: what is remembered here and what is added there in one turn is committed together. */
export class SqliteSeen implements Seen {
  readonly #store: Store;
  readonly #clock: Clock;

  /** `store` is opened with SEEN_TABLES. */
  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    return this.#store.read((sql) => {
      const find = sql('SELECT 1 FROM seen WHERE source = ? AND message_id = ? AND taken_at > ?');
      return new Set(messageIds.filter((id) => find.get(source, shortId(id), since) !== undefined));
    });
  }

  async add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void> {
    const now = Math.floor(this.#clock.now());
    await writeAlongside(this.#store, stored, (sql) => {
      const insert = sql(
        'INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET taken_at = excluded.taken_at',
      );
      for (const id of messageIds) insert.run(source, shortId(id), now);
      forget(sql, now - SEEN_FOR_MS, messageIds.length * FORGOTTEN_AT_ONCE);
    });
  }
}

function forget(sql: Sql, until: number, limit: number): void {
  sql(
    `DELETE FROM seen WHERE (source, message_id) IN
       (SELECT source, message_id FROM seen WHERE taken_at <= ? ORDER BY taken_at LIMIT ?)`,
  ).run(until, limit);
}
