/**
 * Where a deletion request stands at one source:
 *
 *   recorded ─► no-destination                  nothing of the source is enabled that it could go to
 *            └► pending ─┬► delivered           every delete message arrived
 *                        └► failed              at least one of them is a dead letter
 */
export type SourceState = 'recorded' | 'no-destination' | 'pending' | 'delivered' | 'failed';

export interface SourceDeletion {
  /** How many deliveries it became; undefined until they are in the queue. */
  readonly deliveries: number | undefined;
  readonly delivered: number;
  readonly failed: number;
}

export const RECORDED: SourceDeletion = { deliveries: undefined, delivered: 0, failed: 0 };

/** A delivery may come to its end before all of them are known to be queued. */
export function stateOf({ deliveries, delivered, failed }: SourceDeletion): SourceState {
  if (deliveries === undefined) return 'recorded';
  if (deliveries === 0) return 'no-destination';
  if (delivered + failed < deliveries) return 'pending';
  return failed === 0 ? 'delivered' : 'failed';
}

export interface DeletionRecord {
  readonly id: string;
  /** Ms since the epoch. */
  readonly createdAt: number;
  readonly userIds: readonly string[];
  readonly sources: Readonly<Record<string, SourceDeletion>>;
}

/** Where deletion requests are recorded. */
export interface DeletionStore {
  /** Resolves once it is as durable as the store is. */
  add(record: DeletionRecord): Promise<void>;
  /** These deliveries are in the queue for that source. */
  queued(id: string, source: string, deliveryIds: readonly string[]): Promise<void>;
  /**
   * One of them has come to its end. Counted once a delivery, as it ended last: a dead letter may be retried. Ignored for
   * a request that nobody knows.
   */
  settled(id: string, source: string, end: DeliveryEnd): Promise<void>;
  /** Those of its deliveries whose end has not been recorded. */
  pending(id: string): Promise<readonly PendingDelivery[]>;
  get(id: string): Promise<DeletionRecord | undefined>;
}

export interface PendingDelivery {
  readonly source: string;
  readonly deliveryId: string;
}

export interface DeliveryEnd {
  readonly deliveryId: string;
  readonly isDelivered: boolean;
}
