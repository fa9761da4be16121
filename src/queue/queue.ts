import type { DeadReason, Delivery, DeliveryState, Progress } from './delivery.ts';

/**
 * Stores deliveries until they are settled. It stores bytes, ids, keys, times and states, and does not interpret messages.
 * Every implementation passes test/queue/conformance.ts. All methods reject with QueueError if the store fails, and with
 * ClosedError after close(). Calls of one turn of the event loop may share a transaction.
 */
export interface Queue {
  /**
   * Adds deliveries, and resolves when the queue has stored them as durably as it can. Up to a thousand are added all or
   * none; if there are more and the promise rejects, some may be stored. Adding a known id changes nothing, whether the
   * delivery waits, is in flight, or is settled and still remembered: so a caller can add a batch again. A delivery that
   * is added as dead is never claimed.
   * @param once Messages to add only once. The queue remembers their ids for 24 hours, in the transaction of `deliveries`.
   * It skips the deliveries of messages that it remembers already, and resolves to the ids of these messages.
   */
  add(deliveries: readonly Delivery[], once?: OnceMessages): Promise<ReadonlySet<string> | void>;

  /** Whether `add` accepts `once`. @default false */
  readonly addsOnce?: boolean;

  /**
   * Whether a claim also finds deliveries that were added earlier in the same turn of the event loop, by a call of `add` that
   * has not resolved yet. Both calls then share a transaction. @default false
   */
  readonly claimsAddedInTurn?: boolean;

  /**
   * Moves up to `limit` deliveries of one lane to `sending`: those that are due and first in each of their order keys,
   * earliest due first (and first added first if due at the same time). A delivery whose lease has ended is due again. The
   * queue stores that a round of each has begun, before its first attempt; the returned deliveries do not count this round
   * yet. The caller must settle a delivery with `isDamaged` as a dead letter, and not send it.
   */
  claim(request: ClaimRequest): Promise<ClaimResult> | ClaimResult;

  /**
   * Stores the progress of a claim and extends its lease to `leaseMs` from now, for another attempt of the round. Resolves
   * to false if the claim was lost: its lease ran out, and another process has the delivery. The caller must then stop.
   */
  renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean>;

  /**
   * Ends a claim: its delivery is settled, or waits for another round. Resolves to false, without a change, if the claim was
   * lost.
   */
  settle(claim: Claim, settlement: Settlement, options?: SettlingOptions): Promise<boolean> | boolean;

  /** Returns the lanes with unsettled deliveries. The engine needs them to find lanes whose destination is gone. */
  lanes(): Promise<readonly LaneId[]>;

  /**
   * Calls `onAdded` with a lane soon after another process has added deliveries to the lane. Some calls may be missing,
   * for example while a connection is lost, so the caller must also poll. Returns a function that ends the calls; close()
   * ends them, too. Undefined for a queue of one process.
   */
  watch?(onAdded: (lane: LaneId) => void): () => void;

  /** Finishes pending calls and releases the store. Open claims stay `sending` until their leases end. */
  close(): Promise<void>;
}

/** Messages of a source that must be added only once, even if several processes add them at the same moment. */
export interface OnceMessages {
  readonly source: string;
  readonly messageIds: readonly string[];
}

/** One destination of one source: the unit of concurrency, order and health. */
export interface LaneId {
  readonly source: string;
  readonly destination: string;
}

export interface ClaimRequest extends LaneId {
  /** Maximum number of deliveries to claim, at least 1. */
  readonly limit: number;
  /**
   * Duration of the lease in milliseconds, longer than an attempt can take. The lease is renewed before each further
   * attempt.
   */
  readonly leaseMs: number;
}

export interface ClaimResult {
  readonly claims: readonly Claim[];
  /**
   * When the lane may next have a delivery to claim, if no call changes it: the earliest due time or end of a lease,
   * including these claims, of deliveries that no order key holds back. Undefined if the lane is empty.
   */
  readonly nextDueAt: number | undefined;
  /** Whether deliveries wait behind others of their order keys, so that settling can make one claimable. @default true */
  readonly hasHeld?: boolean;
}

export interface Claim {
  readonly delivery: Delivery;
  /** Identifies the claim, and so proves to the queue that the caller still has it. */
  readonly token: string;
}

export interface SettlingOptions {
  /**
   * Whether the caller claims from the lane again in this turn or after the settlement. If not, the queue may delay the
   * settlement for some milliseconds to store it with others, and announces (`watch`) a lane in which it made a delivery
   * claimable. @default true
   */
  readonly claimsNext?: boolean;
}

export type Settlement =
  | { readonly state: 'delivered'; readonly progress: Progress }
  | { readonly state: 'dead'; readonly reason: DeadReason; readonly progress: Progress }
  | { readonly state: 'retrying'; readonly dueAt: number; readonly progress: Progress };

/** The number of deliveries in the queue, by state. */
export type QueueDepth = Readonly<Record<DeliveryState, number>>;
