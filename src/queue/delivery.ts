import type { AttemptRecord } from '../attempt-record.ts';

/**
 * The life of a delivery (one message on its way to one destination):
 *
 *   add ─► pending ─claim─► sending ─┬─ settle ─► delivered
 *                              ▲     ├─ settle ─► dead (a reason)
 *                              │     └─ reschedule ─► retrying ─┐
 *                              └──────────── claim, when due ───┘
 *
 * A delivery that must not be sent is added as `dead`. A `sending` delivery whose lease has run out (its process died) can
 * be claimed again.
 */
export type DeliveryState = 'pending' | 'sending' | 'retrying' | 'delivered' | 'dead';

/**
 * Why a delivery is a dead letter: every webhook `rejected` it, its retry window was `exhausted`, its message was `invalid`,
 * it was `cancelled` because its destination is gone or disabled, it is `unplanned` because it violates the tracking plan, or
 * its stored body is `damaged`.
 */
export type DeadReason = (typeof DEAD_REASONS)[number];

export const DEAD_REASONS = [
  'rejected',
  'exhausted',
  'invalid',
  'cancelled',
  'unplanned',
  'damaged',
] as const;

/** The results of the rounds of a delivery, kept across restarts. Identifies webhooks by their redacted URLs. */
export interface Progress {
  /** Number of rounds that have begun. */
  readonly rounds: number;
  /** When the first attempt began: the start of the retry window. Milliseconds since the epoch. */
  readonly firstAttemptAt?: number;
  readonly attempts: readonly AttemptRecord[];
  /** Webhooks that have rejected the delivery and are not tried again. */
  readonly rejectedBy: readonly string[];
  /** The time before which each webhook must not be tried again (`Retry-After`). Milliseconds since the epoch. */
  readonly notBefore: Readonly<Record<string, number>>;
}

export const NO_PROGRESS: Progress = { rounds: 0, attempts: [], rejectedBy: [], notBefore: {} };

/** Whether no round has begun, as in NO_PROGRESS. */
export function isUntried({ rounds, attempts }: Progress): boolean {
  return rounds === 0 && attempts.length === 0;
}

/** Returns the progress with further rounds begun. The first round starts the retry window. */
export function withRound(progress: Progress, now: number, count = 1): Progress {
  const { rounds, firstAttemptAt = Math.floor(now), attempts, rejectedBy, notBefore } = progress;
  return { rounds: rounds + count, firstAttemptAt, attempts, rejectedBy, notBefore };
}

/** One message on its way to one destination: added to a queue, and claimed from it. */
export interface Delivery {
  /** Id that is unique in the queue. Adding a delivery with a known id changes nothing. */
  readonly id: string;
  readonly source: string;
  /** The name of the destination. Empty for a dead letter without a known destination. */
  readonly destination: string;
  readonly messageId: string;
  readonly type: string;
  /** The bytes that every attempt sends as its body. */
  readonly body: Uint8Array;
  /** Order keys: the delivery waits for earlier unsettled deliveries of its lane that share one of these keys. */
  readonly orderKeys: readonly string[];
  /** The trace that the attempts continue: a W3C `traceparent`, and after a space the `tracestate`. */
  readonly trace?: string | undefined;
  /** When the delivery was created. Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly dueAt: number;
  /** The current state. A delivery added as `dead` is never sent; a delivery added in another state waits to be sent. */
  readonly state: DeliveryState;
  /** The rounds and attempts so far. NO_PROGRESS for a new delivery. */
  readonly progress: Progress;
  readonly reason?: DeadReason | undefined;
  /** A description of the problem in an invalid message, unescaped. */
  readonly detail?: string | undefined;
  /** When the delivery was settled. Milliseconds since the epoch. @default when it was created, if it is added as `dead` */
  readonly settledAt?: number | undefined;
  /** Set if the stored delivery differs from the added one. `body` is then only its readable part, and must not be sent. */
  readonly isDamaged?: true | undefined;
}

/** Names of the fields that a new delivery has. */
export type FirstField = Exclude<keyof Delivery, 'reason' | 'detail' | 'settledAt' | 'isDamaged'>;

type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Returns a copy that can be changed. Lists the fields, because a spread costs more than the rest of a claim. */
export function copyDelivery(delivery: Delivery): Changeable<Delivery> {
  const { id, source, destination, messageId, type, body, orderKeys, trace, createdAt, dueAt } = delivery;
  const { state, progress, reason, detail, settledAt, isDamaged } = delivery;
  return {
    id,
    source,
    destination,
    messageId,
    type,
    body,
    orderKeys,
    trace,
    createdAt,
    dueAt,
    state,
    progress,
    reason,
    detail,
    settledAt,
    isDamaged,
  } satisfies Record<keyof Delivery, unknown>;
}

/** Returns the delivery as shown to people: a damaged one as a dead letter, even if the queue has not marked it dead yet. */
export function withDamageShown(delivery: Delivery, now = delivery.createdAt): Delivery {
  const { isDamaged, state, reason, settledAt = now } = delivery;
  const isLeft = state === 'delivered' || state === 'sending' || reason === 'damaged';
  return isDamaged === undefined || isLeft
    ? delivery
    : { ...delivery, state: 'dead', reason: 'damaged', settledAt };
}

/**
 * Converts a delivery for another queue. A damaged one becomes a dead letter, because the other queue computes a new
 * checksum and would send it.
 */
export function toMovedDelivery({ isDamaged, ...delivery }: Delivery): Delivery {
  const { reason, state } = delivery;
  if (isDamaged) return { ...delivery, state: 'dead', reason: 'damaged' };
  return state === 'dead' && reason === undefined ? { ...delivery, state: 'pending' } : delivery;
}
