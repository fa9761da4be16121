import type { Clock } from '../../clock.ts';
import type { Sql, Store } from './file/store.ts';
import type { OnceMessages } from '../../queue/queue.ts';
import { SEEN_FOR_MS, shortId, type KeptSeen, type SeenMessage } from '../../service/ingest/seen.ts';

/**
 * Number of old messages to forget for each one that is remembered: enough that old ones do not pile up, without a long
 * transaction.
 */
const FORGOTTEN_AT_ONCE = 2;

/**
 * Tells which messages the queue of a file remembers. `SqliteQueue.add` remembers messages.
 */
export class SqliteSeen implements KeptSeen {
  readonly #store: Store;
  readonly #clock: Clock;

  /** `store` must be opened with SEEN_TABLES. */
  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const now = this.#clock.now();
    return this.#store.read((sql) => takenAmong(sql, { source, messageIds }, now).known);
  }

  async restore(messages: readonly SeenMessage[]): Promise<void> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    const rows = messages
      .filter(({ acceptedAt }) => acceptedAt > since)
      .map(({ source, messageId, acceptedAt }) => [source, shortId(messageId), Math.floor(acceptedAt)]);
    if (rows.length > 0) await this.#store.write((sql) => void sql(RESTORE).run(JSON.stringify(rows)));
  }

  /** Yields the messages of the last 24 hours in pages, in the order of the index. */
  async *list(): AsyncGenerator<readonly SeenMessage[]> {
    const since = this.#clock.now() - SEEN_FOR_MS;
    const pageAfter = ({ source, messageId }: Pick<SeenMessage, 'source' | 'messageId'>) =>
      this.#store.read((sql) => sql(LIST).all(source, messageId, PAGE).map(messageOf));
    let page = await pageAfter({ source: '', messageId: '' });
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      yield page.filter(({ acceptedAt }) => acceptedAt > since);
      page = await pageAfter(last);
    }
  }
}

function messageOf({
  source,
  message_id: messageId,
  taken_at: takenAt,
}: Readonly<Record<string, unknown>>): SeenMessage {
  return { source: String(source), messageId: String(messageId), acceptedAt: Number(takenAt) };
}

const PAGE = 1_000;
const LIST = 'SELECT * FROM seen WHERE (source, message_id) > (?, ?) ORDER BY source, message_id LIMIT ?';
const RESTORE = `
  INSERT OR IGNORE INTO seen SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`;

// Looks up a batch of messages at once, because a statement costs more than a row. CROSS JOIN keeps SQLite from scanning all
// messages.
const TAKEN = `
  SELECT s.message_id FROM json_each(?) i CROSS JOIN seen s
  WHERE s.source = ? AND s.message_id = i.value AND s.taken_at > ?`;

/**
 * Remembers messages, and returns those that were remembered already. Inserts before it updates: an upsert can fail after
 * some rows, so SQLite would copy each changed page to a temporary file.
 */
export function rememberMessages(sql: Sql, once: OnceMessages, clockNow: number): ReadonlySet<string> {
  const now = Math.floor(clockNow);
  const { known, shortIds } = takenAmong(sql, once, clockNow);
  const fresh =
    known.size === 0 ? shortIds : shortIds.filter((_, index) => !known.has(once.messageIds[index] ?? ''));
  const ids = JSON.stringify(fresh);
  const insert = sql('INSERT OR IGNORE INTO seen SELECT ?, value, ? FROM json_each(?)');
  if (Number(insert.run(once.source, now, ids).changes) < fresh.length) {
    sql(
      'UPDATE seen SET taken_at = ? WHERE source = ? AND message_id IN (SELECT value FROM json_each(?))',
    ).run(now, once.source, ids);
  }
  forget(sql, now - SEEN_FOR_MS, fresh.length * FORGOTTEN_AT_ONCE);
  return known;
}

function takenAmong(sql: Sql, { source, messageIds }: OnceMessages, now: number) {
  const shortIds = messageIds.map(shortId);
  const rows = sql(TAKEN).all(JSON.stringify(shortIds), source, now - SEEN_FOR_MS);
  const taken = new Set(rows.map((row) => row['message_id']));
  const known = new Set(taken.size === 0 ? [] : messageIds.filter((_, index) => taken.has(shortIds[index])));
  return { known, shortIds };
}

function forget(sql: Sql, until: number, limit: number): void {
  // Asks first, because mostly no message is old enough, and a DELETE without rows costs as much as adding a batch.
  if (sql('SELECT 1 FROM seen WHERE taken_at <= ? LIMIT 1').get(until) === undefined) return;
  sql(
    `DELETE FROM seen WHERE (source, message_id) IN
       (SELECT source, message_id FROM seen WHERE taken_at <= ? ORDER BY taken_at LIMIT ?)`,
  ).run(until, limit);
}

/** SQL for the table that tells which messages were accepted lately. Times are ms since the epoch. */
export const SEEN_TABLES = `
-- Messages that were taken, so that one that comes again is known. A message_id that is long is a digest.
CREATE TABLE seen (
  source TEXT NOT NULL,
  message_id TEXT NOT NULL,
  taken_at INTEGER NOT NULL,
  PRIMARY KEY (source, message_id)
) WITHOUT ROWID;
CREATE INDEX seen_taken ON seen (taken_at);
`;
