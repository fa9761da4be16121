import type { Row } from '../store/sqlite.ts';
import type { Sql, Store } from '../store/store.ts';
import {
  RECORDED,
  type DeletionRecord,
  type DeletionStore,
  type DeliveryEnd,
  type PendingDelivery,
  type SourceDeletion,
} from './state.ts';

/** In the file of the queue. Requests are kept: they are the proof that they were made. */
export class SqliteDeletionStore implements DeletionStore {
  readonly #store: Store;

  /** `store` is opened with DELETION_TABLES. */
  constructor(store: Store) {
    this.#store = store;
  }

  add({ id, createdAt, userIds, sources }: DeletionRecord): Promise<void> {
    return this.#store.write((sql) => {
      sql('INSERT INTO deletion_requests VALUES (?, ?, ?)').run(id, createdAt, JSON.stringify(userIds));
      const insert = sql('INSERT INTO deletion_sources VALUES (?, ?, ?, NULL)');
      Object.keys(sources).forEach((source, place) => insert.run(id, source, place));
    });
  }

  queued(id: string, source: string, deliveryIds: readonly string[]): Promise<void> {
    return this.#store.write((sql) => {
      sql('UPDATE deletion_sources SET deliveries = ? WHERE request = ? AND source = ?').run(
        deliveryIds.length,
        id,
        source,
      );
      // Some may have come to their end already.
      const insert = sql('INSERT INTO deletion_deliveries VALUES (?, ?, ?, NULL) ON CONFLICT DO NOTHING');
      for (const deliveryId of deliveryIds) insert.run(id, source, deliveryId);
    });
  }

  settled(id: string, source: string, { deliveryId, isDelivered }: DeliveryEnd): Promise<void> {
    return this.#store.write((sql) => {
      sql(
        `INSERT INTO deletion_deliveries SELECT request, source, ?3, ?4 FROM deletion_sources
           WHERE request = ?1 AND source = ?2
         ON CONFLICT DO UPDATE SET is_delivered = excluded.is_delivered`,
      ).run(id, source, deliveryId, isDelivered ? 1 : 0);
    });
  }

  pending(id: string): Promise<readonly PendingDelivery[]> {
    return this.#store.read((sql) =>
      sql('SELECT source, delivery FROM deletion_deliveries WHERE request = ? AND is_delivered IS NULL')
        .all(id)
        .map(({ source, delivery }) => ({ source: String(source), deliveryId: String(delivery) })),
    );
  }

  get(id: string): Promise<DeletionRecord | undefined> {
    return this.#store.read((sql) => {
      const row = sql('SELECT * FROM deletion_requests WHERE id = ?').get(id);
      return row === undefined ? undefined : toRecord(row, sql);
    });
  }
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
  SELECT source, deliveries,
    (SELECT count(*) FROM deletion_deliveries d WHERE d.request = s.request AND d.source = s.source
      AND is_delivered = 1) AS delivered,
    (SELECT count(*) FROM deletion_deliveries d WHERE d.request = s.request AND d.source = s.source
      AND is_delivered = 0) AS failed
  FROM deletion_sources s WHERE request = ? ORDER BY place`;

function toSource({ deliveries, delivered, failed }: Row): SourceDeletion {
  return {
    ...RECORDED,
    ...(deliveries !== null && { deliveries: Number(deliveries) }),
    delivered: Number(delivered),
    failed: Number(failed),
  };
}
