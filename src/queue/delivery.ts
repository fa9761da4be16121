import type { AttemptRecord } from '../attempt-record.ts';

/**
 * The life of a delivery (one message on its way to one destination):
 *
 *   add ─► pending ─claim─► sending ─┬─ settle ─► delivered
 *                              ▲     ├─ settle ─► dead (a reason)
 *                              │     └─ reschedule ─► retrying ─┐
 *                              └──────────── claim, when due ───┘
 *
 * A delivery that must not be sent is added as `dead`. A `sending` delivery whose lease has run out (its process died) is claimable again.
 */
export type DeliveryState = 'pending' | 'sending' | 'retrying' | 'delivered' | 'dead';

/**
 * Why a delivery is a dead letter: every webhook `rejected` it, its retry window was `exhausted`, its message was
 * `invalid`, it was `cancelled` because its destination is gone or disabled, or its stored body is `damaged`.
 */
export type DeadReason = 'rejected' | 'exhausted' | 'invalid' | 'cancelled' | 'damaged';

/** What earlier rounds have shown, kept across restarts. Webhooks are named by their redacted URL. */
export interface Progress {
  /** Rounds begun. */
  readonly rounds: number;
  /** When the first attempt began: the start of the retry window. Ms since the epoch. */
  readonly firstAttemptAt?: number;
  readonly attempts: readonly AttemptRecord[];
  /** Webhooks that will not be asked again. */
  readonly rejectedBy: readonly string[];
  /** Until when each webhook asked to be left alone (`Retry-After`). Ms since the epoch. */
  readonly notBefore: Readonly<Record<string, number>>;
}

export const NO_PROGRESS: Progress = { rounds: 0, attempts: [], rejectedBy: [], notBefore: {} };

/** Whether the progress says nothing that NO_PROGRESS does not. */
export function isUntried({ rounds, attempts }: Progress): boolean {
  return rounds === 0 && attempts.length === 0;
}

/** The progress with another round begun. The first one starts the retry window. */
export function withRound(progress: Progress, now: number): Progress {
  const { rounds, firstAttemptAt = Math.floor(now), attempts, rejectedBy, notBefore } = progress;
  return { rounds: rounds + 1, firstAttemptAt, attempts, rejectedBy, notBefore };
}

/** One message on its way to one destination: what is added to a queue, and what is claimed from it. */
export interface Delivery {
  /** Unique in the queue; adding an id again changes nothing. */
  readonly id: string;
  readonly source: string;
  /** Empty for a dead letter that does not say where it was to go. */
  readonly destination: string;
  readonly messageId: string;
  readonly type: string;
  /** The exact bytes of every attempt. */
  readonly body: Uint8Array;
  /** Earlier unsettled deliveries to the same source and destination with one of these keys go first. */
  readonly orderKeys: readonly string[];
  /** The trace that its attempts continue: a W3C `traceparent`, then after a space the `tracestate`. */
  readonly trace?: string | undefined;
  /** Ms since the epoch. */
  readonly createdAt: number;
  readonly dueAt: number;
  /** One that is added as `dead` is never sent; any other waits, whatever its state was in another queue. */
  readonly state: DeliveryState;
  /** NO_PROGRESS for a new one. */
  readonly progress: Progress;
  readonly reason?: DeadReason | undefined;
  /** What is wrong with a delivery that was dead on arrival, in words, unescaped. */
  readonly detail?: string | undefined;
  /** When it was settled. Ms since the epoch. @default of one that is added as `dead`: when it was created */
  readonly settledAt?: number | undefined;
  /** The stored delivery differs from the added one: `body` is the readable part, and must not be sent. */
  readonly isDamaged?: true | undefined;
}

/** The fields that a delivery has from the start. */
export type FirstField = Exclude<keyof Delivery, 'reason' | 'detail' | 'settledAt' | 'isDamaged'>;

type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Copies a delivery, to be changed. Field by field: a spread costs more than all the rest of a claim. */
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

/** The delivery as people see it: a damaged one is a dead letter, though the queue may not have made it one yet. */
export function withDamageShown(delivery: Delivery, now = delivery.createdAt): Delivery {
  const { isDamaged, state, reason, settledAt = now } = delivery;
  const isLeft = state === 'delivered' || state === 'sending' || reason === 'damaged';
  return isDamaged === undefined || isLeft
    ? delivery
    : { ...delivery, state: 'dead', reason: 'damaged', settledAt };
}

/** Converts it for another queue, which computes a new checksum: so a damaged one is marked dead, and is not sent from there either. */
export function toMovedDelivery({ isDamaged, ...delivery }: Delivery): Delivery {
  const { reason, state } = delivery;
  if (isDamaged) return { ...delivery, state: 'dead', reason: 'damaged' };
  return state === 'dead' && reason === undefined ? { ...delivery, state: 'pending' } : delivery;
}
