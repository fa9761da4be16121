/**
 * The state of a deletion request at one source:
 *
 *   no-destination          no destination of the source is enabled
 *   pending ─┬► delivered   every delete message was delivered
 *            └► failed      at least one delete message is a dead letter
 */
export type SourceState = 'no-destination' | 'pending' | 'delivered' | 'failed';

export interface SourceDeletion {
  /** Number of deliveries of the request at this source. */
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
  /** Time when the request was created. Ms since the epoch. */
  readonly createdAt: number;
  readonly userIds: readonly string[];
  readonly sources: Readonly<Record<string, SourceDeletion>>;
}

/** A deletion request, or a part of a large one, with its deliveries. Each part has all user ids of the request. */
export interface NewDeletion extends Omit<DeletionRecord, 'sources'> {
  /** The ids of the deliveries by source, with an entry for each affected source. */
  readonly deliveryIds: ReadonlyMap<string, readonly string[]>;
  /**
   * Index of this part, from 0, and the number of parts. The parts of a large request are added one after the other, each
   * with its own deliveries. @default the only part
   */
  readonly part?: { readonly index: number; readonly of: number };
}

/** Returns the record of a request of which no delivery is settled yet. */
export function recordOf({ id, createdAt, userIds, deliveryIds }: NewDeletion): DeletionRecord {
  const sources = [...deliveryIds].map(([source, ids]) => [
    source,
    { deliveries: ids.length, delivered: 0, failed: 0 },
  ]);
  return { id, createdAt, userIds, sources: Object.fromEntries(sources) };
}

export interface DeletionStore {
  /**
   * Records a request, or a part of it, while its deliveries are being stored (`stored`), unless storing them fails. If
   * the record and the deliveries go to the same file, the record is written in the current turn of the event loop, and so
   * in the transaction of the deliveries.
   */
  add(deletion: NewDeletion, stored: Promise<unknown>): Promise<void>;
  /**
   * Records that a delivery was settled, or waits again. Each delivery counts once, by its latest state, because dead
   * letters can be retried. Ignores unknown requests.
   */
  settled(id: string, source: string, end: DeliveryEnd): Promise<void>;
  /** Returns the deliveries of a request that are not recorded as delivered. */
  undelivered(id: string): Promise<readonly RecordedDelivery[]>;
  get(id: string): Promise<DeletionRecord | undefined>;
}

export interface DeliveryEnd {
  readonly deliveryId: string;
  /** Whether the delivery was delivered; false for a dead letter. Undefined if it is not settled. */
  readonly isDelivered: boolean | undefined;
}

export interface RecordedDelivery extends DeliveryEnd {
  readonly source: string;
}
