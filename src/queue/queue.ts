import type { DeadReason, Delivery, DeliveryState, Progress } from './delivery.ts';

/**
 * Stores deliveries until they are settled. It stores bytes, ids, keys, times and states, and knows nothing about messages.
 * Every implementation passes test/queue/conformance.ts. All methods reject with QueueError if the store fails, and with
 * ClosedError after close(). Calls of one turn of the event loop may share a transaction.
 */
export interface Queue {
  /**
   * Resolves when all deliveries are as durable as the queue makes them. Up to a thousand are added all or none; of more,
   * some may be stored when it rejects. Adding a known id changes nothing, whether the delivery waits, is in flight, or is
   * settled and still remembered: so a batch can be added again. A delivery that is added as dead is never claimed.
   */
  add(deliveries: readonly Delivery[]): Promise<void>;

  /**
   * Moves up to `limit` deliveries of one lane to `sending`: those that are due and first in each of their order keys,
   * earliest due first (and among equals, first added first). A delivery whose lease has ended is due as before. This call
   * stores that a round of each has begun, before its first attempt; the returned delivery is as it was before. A delivery
   * with `isDamaged` must be settled as a dead letter, and not sent.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>;

  /**
   * Stores the progress of a claim and extends its lease to `leaseMs` from now, for another attempt of the round. Resolves
   * to false if the claim was lost: its lease ran out, and another process has the delivery. The caller must stop then.
   */
  renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean>;

  /** Ends the claim: as settled, or for another round. Resolves to false, without a change, if the claim was lost. */
  settle(claim: Claim, settlement: Settlement): Promise<boolean>;

  /** Returns the lanes with unsettled deliveries, to find those whose destination is gone. */
  lanes(): Promise<readonly LaneId[]>;

  /** Finishes pending calls and releases the store. Open claims stay `sending` until their leases end. */
  close(): Promise<void>;
}

/** One destination of one source: the unit of concurrency, order and health. */
export interface LaneId {
  readonly source: string;
  readonly destination: string;
}

export interface ClaimRequest extends LaneId {
  /** At least 1. */
  readonly limit: number;
  /** Milliseconds, longer than an attempt can take. Renewed before each further attempt. */
  readonly leaseMs: number;
}

export interface ClaimResult {
  readonly claims: readonly Claim[];
  /**
   * When the lane may next have something to claim without another call: the earliest due time or end of a lease, including
   * these claims, of deliveries that no order key holds back. Undefined if the lane is empty.
   */
  readonly nextDueAt: number | undefined;
}

export interface Claim {
  readonly delivery: Delivery;
  /** Proves that the caller still has the claim. */
  readonly token: string;
}

export type Settlement =
  | { readonly state: 'delivered'; readonly progress: Progress }
  | { readonly state: 'dead'; readonly reason: DeadReason; readonly progress: Progress }
  | { readonly state: 'retrying'; readonly dueAt: number; readonly progress: Progress };

/** The number of deliveries in the queue, by state. */
export type QueueDepth = Readonly<Record<DeliveryState, number>>;
