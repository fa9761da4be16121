/**
 * Where a deletion request stands at one source:
 *
 *   no-destination          nothing of the source is enabled that it could go to
 *   pending ─┬► delivered   every delete message arrived
 *            └► failed      at least one of them is a dead letter
 */
export type SourceState = 'no-destination' | 'pending' | 'delivered' | 'failed';

export interface SourceDeletion {
  /** How many it became. */
  readonly deliveries: number;
  readonly delivered: number;
  readonly failed: number;
}

export function deletionStateOf({ deliveries, delivered, failed }: SourceDeletion): SourceState {
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

/** A request with what it becomes. */
export interface NewDeletion {
  readonly id: string;
  /** Ms since the epoch. */
  readonly createdAt: number;
  /** All of the request's, in each of its parts. */
  readonly userIds: readonly string[];
  /** The ids of its deliveries, by source; an entry for each affected source. */
  readonly deliveryIds: ReadonlyMap<string, readonly string[]>;
  /** A large request comes in parts, one after the other, each with other deliveries. @default the only one */
  readonly part?: { readonly index: number; readonly of: number };
}

/** The record of a request of which nothing is settled. */
export function recordOf({ id, createdAt, userIds, deliveryIds }: NewDeletion): DeletionRecord {
  const sources = [...deliveryIds].map(([source, ids]) => [
    source,
    { deliveries: ids.length, delivered: 0, failed: 0 },
  ]);
  return { id, createdAt, userIds, sources: Object.fromEntries(sources) };
}

export interface DeletionStore {
  /**
   * Records a request, or a part of one, whose deliveries are being stored: both or neither. Over the file that they go to, it is
   * written in the turn of the event loop in which this is called, and so in their transaction.
   */
  add(deletion: NewDeletion, stored: Promise<unknown>): Promise<void>;
  /**
   * Records that a delivery was settled, or waits again. Each delivery counts once, with its last state: a dead letter may be
   * retried. Ignored for an unknown request.
   */
  settled(id: string, source: string, end: DeliveryEnd): Promise<void>;
  /** The deliveries of the request that are not recorded as delivered. */
  undelivered(id: string): Promise<readonly RecordedDelivery[]>;
  get(id: string): Promise<DeletionRecord | undefined>;
}

export interface DeliveryEnd {
  readonly deliveryId: string;
  /** Undefined: it is not settled. */
  readonly isDelivered: boolean | undefined;
}

export interface RecordedDelivery extends DeliveryEnd {
  readonly source: string;
}
