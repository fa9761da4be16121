import type { Row } from './file/sqlite.ts';
import type { Sql, Store } from './file/store.ts';
import { writeAlongside } from './write-alongside.ts';
import {
  type DeletionRecord,
  type DeletionStore,
  type DeliveryEnd,
  type NewDeletion,
  type RecordedDelivery,
  type SourceDeletion,
} from '../../deletion/state.ts';

/** Stores deletion requests in the file of the queue. */
export class SqliteDeletionStore implements DeletionStore {
  readonly #store: Store;

  /** `store` must be opened with DELETION_TABLES. */
  constructor(store: Store) {
    this.#store = store;
  }

  add(deletion: NewDeletion, stored: Promise<unknown>): Promise<void> {
    return writeAlongside(this.#store, stored, (sql) => {
      if ((deletion.part?.index ?? 0) === 0) addRequest(sql, deletion);
      const insert = sql('INSERT INTO deletion_deliveries VALUES (?, ?, ?, NULL)');
      for (const [source, ids] of deletion.deliveryIds) {
        for (const deliveryId of ids) insert.run(deletion.id, source, deliveryId);
      }
    });
  }

  settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    return this.#store.write((sql) => {
      sql(SETTLE).run(isDelivered === undefined ? null : Number(isDelivered), id, source, deliveryId);
    });
  }

  undelivered(id: string): Promise<readonly RecordedDelivery[]> {
    return this.#store.read((sql) => sql(UNDELIVERED).all(id).map(toRecorded));
  }

  get(id: string): Promise<DeletionRecord | undefined> {
    return this.#store.read((sql) => {
      const row = sql('SELECT * FROM deletion_requests WHERE id = ?').get(id);
      return row === undefined ? undefined : toRecord(row, sql);
    });
  }
}

function addRequest(sql: Sql, { id, createdAt, userIds, deliveryIds }: NewDeletion): void {
  sql('INSERT INTO deletion_requests VALUES (?, ?, ?)').run(id, createdAt, JSON.stringify(userIds));
  [...deliveryIds.keys()].forEach((source, place) => {
    sql('INSERT INTO deletion_sources (request, source, place) VALUES (?, ?, ?)').run(id, source, place);
  });
}

// A delivery that is recorded as delivered stays so, because a caller with another state has read an older one.
const SETTLE = `
  UPDATE deletion_deliveries SET is_delivered = ?
  WHERE request = ? AND source = ? AND delivery = ? AND is_delivered IS NOT 1`;

const UNDELIVERED = `
  SELECT source, delivery, is_delivered FROM deletion_deliveries WHERE request = ? AND is_delivered IS NOT 1`;

function toRecorded({ source, delivery, is_delivered: isDelivered }: Row): RecordedDelivery {
  return {
    source: String(source),
    deliveryId: String(delivery),
    isDelivered: isDelivered === null ? undefined : isDelivered === 1,
  };
}

function toRecord({ id, created_at: createdAt, user_ids: userIds }: Row, sql: Sql): DeletionRecord {
  const rows = sql(SOURCES).all(String(id));
  return {
    id: String(id),
    createdAt: Number(createdAt),
    userIds: JSON.parse(String(userIds)) as string[], // written by add
    sources: Object.fromEntries(rows.map((row) => [String(row['source']), toSource(row)])),
  };
}

const SOURCES = `
  SELECT source, count(delivery) AS deliveries, coalesce(sum(is_delivered = 1), 0) AS delivered,
    coalesce(sum(is_delivered = 0), 0) AS failed
  FROM deletion_sources LEFT JOIN deletion_deliveries USING (request, source)
  WHERE request = ? GROUP BY source ORDER BY place`;

function toSource({ deliveries, delivered, failed }: Row): SourceDeletion {
  return { deliveries: Number(deliveries), delivered: Number(delivered), failed: Number(failed) };
}

/** Maximum number of rows to delete in one transaction, because deliveries wait for the transaction. */
const FORGOTTEN_AT_ONCE = 1_000;

/**
 * Removes deletion requests that were made before a time, with their user ids: one step per call, because one request can
 * have a million deliveries. Returns whether another step may be needed.
 */
export function forgetDeletions(sql: Sql, before: number): boolean {
  for (let left = FORGOTTEN_AT_ONCE; left > 0; left--) {
    const id = sql(OLDEST).get(before)?.['id'];
    if (id === undefined) return false;
    left -= Number(sql(FORGET_DELIVERIES).run(String(id), left).changes);
    if (left <= 0) return true;
    sql('DELETE FROM deletion_requests WHERE id = ?').run(String(id));
  }
  return true;
}

const OLDEST = 'SELECT id FROM deletion_requests WHERE created_at < ? ORDER BY created_at LIMIT 1';

const FORGET_DELIVERIES = `
  DELETE FROM deletion_deliveries WHERE (request, source, delivery) IN
    (SELECT request, source, delivery FROM deletion_deliveries WHERE request = ? LIMIT ?)`;

/** SQL for the tables of deletion requests. Times are ms since the epoch. */
export const DELETION_TABLES = `
CREATE TABLE deletion_requests (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  user_ids TEXT NOT NULL -- JSON: [string]
) WITHOUT ROWID;
CREATE INDEX deletion_requests_created ON deletion_requests (created_at);

CREATE TABLE deletion_sources (
  request TEXT NOT NULL REFERENCES deletion_requests ON DELETE CASCADE,
  source TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (request, source)
) WITHOUT ROWID;

CREATE TABLE deletion_deliveries (
  request TEXT NOT NULL,
  source TEXT NOT NULL,
  delivery TEXT NOT NULL, -- its id
  is_delivered INTEGER, -- 0: a dead letter, or dropped; NULL: not settled, as far as is known
  PRIMARY KEY (request, source, delivery),
  FOREIGN KEY (request, source) REFERENCES deletion_sources ON DELETE CASCADE
) WITHOUT ROWID;
`;
