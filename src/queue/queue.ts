import type { DeadReason, Delivery, DeliveryState, Progress } from './delivery.ts';

/**
 * Where deliveries wait. It keeps bytes, ids, keys, times and states, and knows nothing of messages.
 * Every implementation passes test/queue/conformance.ts. All methods reject with QueueError when the store fails,
 * with ClosedError after close(). Calls of one turn of the event loop may share a transaction.
 */
export interface Queue {
  /**
   * Resolves once all of them are as durable as this queue is; all or none of up to a thousand. Of more, some may be there
   * when it rejects: to add the same ids again changes nothing for those. An id that waits or is in flight is left
   * as it is; a settled one too, for as long as the queue remembers it. One that is dead on arrival is never claimed.
   */
  add(deliveries: readonly Delivery[]): Promise<void>;

  /**
   * Takes up to `limit` deliveries of one lane that are due and first in each of their order keys, earliest due first
   * (among equals: first added first), and moves them to `sending`. One whose lease has ended is due as it was.
   * That a round of each has begun is stored by this call, before the first attempt is made; the delivery in the
   * result is as it was before. One whose `isDamaged` is set must be settled as a dead letter, and not sent.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>;

  /**
   * Records progress while it is `sending` and renews the lease by `leaseMs` from now, for another attempt of the
   * round. False: the claim is no longer ours (its lease ran out and another took it); the caller stops.
   */
  renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean>;

  /** Ends the claim: a final state, or another round later. False, and nothing changed: the claim is no longer ours. */
  settle(claim: Claim, settlement: Settlement): Promise<boolean>;

  /** The lanes that have something unsettled: how deliveries to a destination that is gone are found. */
  lanes(): Promise<readonly LaneId[]>;

  /** Finishes what was promised, releases the store. Claims that are still out stay `sending` until their lease ends. */
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
  /** Longer than an attempt can take; renewed before each further one. */
  readonly leaseMs: number;
}

export interface ClaimResult {
  readonly claims: readonly Claim[];
  /**
   * When the lane may next have something to claim without anything else happening: the earliest due time or lease
   * end (of these claims too) among what no order key holds back. Undefined: the lane is empty.
   */
  readonly nextDueAt: number | undefined;
}

export interface Claim {
  readonly delivery: Delivery;
  /** Proves that the caller still holds the claim. */
  readonly token: string;
}

export type Settlement =
  | { readonly state: 'delivered'; readonly progress: Progress }
  | { readonly state: 'dead'; readonly reason: DeadReason; readonly progress: Progress }
  | { readonly state: 'retrying'; readonly dueAt: number; readonly progress: Progress };

/** How many deliveries the queue knows of, by state. */
export type QueueDepth = Readonly<Record<DeliveryState, number>>;
