import type { AttemptRecord } from '../../attempt-record.ts';
import { callDetached } from '../../errors.ts';
import type { Receipt } from '../../client/sink.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import type { DeadReason, Delivery } from '../../queue/delivery.ts';
import type { SignedHeaders } from '../../signature/schemes/signer.ts';
import { ReusableMap } from '../../queue/reusable-map.ts';

/** What became of one message, over all its destinations. */
export interface Outcome {
  readonly messageId: string;
  /**
   * `delivered`: every destination took it. `failed`: one did not. `filtered`: its `integrations` exclude every
   * destination. `unsent`: interrupted before it was settled. `queued`: it is in a durable queue, and another process
   * delivers it.
   */
  readonly outcome: 'delivered' | 'failed' | 'filtered' | 'unsent' | 'queued';
  readonly destinations: readonly DestinationOutcome[];
  /** Why it was not even taken into the queue, or not by the tracking API. */
  readonly refusal?: { readonly code: string; readonly reason: string };
}

export interface DestinationOutcome {
  readonly name: string;
  readonly outcome: 'delivered' | 'failed' | 'unsent';
  /** Every one, in order. The one without `error` is the one that delivered it. */
  readonly attempts: readonly AttemptRecord[];
  /** Why it is a dead letter. */
  readonly reason?: DeadReason;
  readonly signature?: string;
  /** Of all schemes by the names of their headers, where there are several. */
  readonly signatures?: SignedHeaders['signatures'];
}

/** The name of the only destination of a message that goes to a tracking API. */
export const TRACKING_API = 'tracking API';

/** The code of a receipt for a message that ClosedError rejected. */
const CLOSED = 'closed';

/** A message whose outcome a caller awaits. */
interface AwaitedMessage {
  readonly messageId: string;
  readonly deliveries: readonly Subscription[];
  readonly onOutcome: (outcome: Outcome) => void;
  unsettled: number;
}

/** One delivery of it, as its events have shown it so far. */
interface Subscription {
  readonly id: string;
  readonly destination: string;
  delivery: Delivery | undefined;
  signature: string | undefined;
  signatures?: SignedHeaders['signatures'];
  isSettled: boolean;
}

type SeenEvent = Extract<EngineEvent, { kind: 'settled' | 'rescheduled' }>;

/**
 * Subscriptions to the engine's events by the id of the delivery: of the messages that a caller awaits. Others leave no
 * trace, so that a client used by itself costs no memory here.
 */
export class Outcomes {
  readonly #awaited = new ReusableMap<AwaitedMessage>();
  /** Events of deliveries without a subscriber so far: they may come before the receipt that names the delivery. */
  readonly #early = new Map<string, SeenEvent>();
  #submitting = 0;
  #isInterrupted = false;

  /** Keeps the events that come before the receipts of this submit, which are handed out in the turn in which it resolves. */
  async keepEarly<T>(submit: () => Promise<T>): Promise<T> {
    this.#submitting++;
    try {
      return await submit();
    } finally {
      setImmediate(() => {
        if (--this.#submitting === 0) this.#early.clear();
      });
    }
  }

  see(event: EngineEvent): void {
    if (event.kind !== 'settled' && event.kind !== 'rescheduled') return;
    const awaited = this.#awaited.get(event.delivery.id);
    if (awaited === undefined) {
      if (this.#submitting > 0) this.#early.set(event.delivery.id, event);
      return;
    }
    const subscription = awaited.deliveries.find(({ id }) => id === event.delivery.id);
    if (subscription === undefined || subscription.isSettled) return;
    update(subscription, event);
    if (subscription.isSettled && --awaited.unsettled === 0) this.#conclude(awaited);
  }

  /** Calls back, now or later, when each delivery of the receipt is settled, or interrupted. */
  subscribe(receipt: Receipt, onOutcome: (outcome: Outcome) => void): void {
    if (!receipt.accepted || receipt.deliveries.length === 0) return onOutcome(withoutDelivery(receipt));
    const deliveries = receipt.deliveries.map(({ id, destination }) => this.#subscription(id, destination));
    const unsettled = deliveries.filter(({ isSettled }) => !isSettled).length;
    const awaited = { messageId: receipt.messageId, deliveries, onOutcome, unsettled };
    if (unsettled === 0 || this.#isInterrupted) return this.#conclude(awaited);
    for (const { id } of deliveries) this.#awaited.set(id, awaited);
  }

  /** Nothing more will settle: calls back every caller that waits with what is known. */
  interrupt(): void {
    this.#isInterrupted = true;
    for (const awaited of new Set(this.#awaited.values())) this.#conclude(awaited);
  }

  #subscription(id: string, destination: string): Subscription {
    const subscription: Subscription = {
      id,
      destination,
      delivery: undefined,
      signature: undefined,
      isSettled: false,
    };
    const early = this.#early.get(id);
    if (early !== undefined) update(subscription, early);
    return subscription;
  }

  #conclude({ messageId, deliveries, onOutcome }: AwaitedMessage): void {
    for (const { id } of deliveries) this.#awaited.delete(id);
    const destinations = deliveries.map(destinationOutcome);
    // They are old by now, and V8 would keep the young deliveries that they point to until the next full collection.
    for (const subscription of deliveries) subscription.delivery = undefined;
    callDetached(onOutcome, { messageId, outcome: combined(destinations), destinations });
  }
}

function withoutDelivery(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) return { messageId, outcome: 'filtered', destinations: [] };
  const { code, reason } = receipt;
  // The message came when the engine was stopping: nothing is wrong with it.
  if (code === CLOSED) return { messageId, outcome: 'unsent', destinations: [] };
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}

function update(subscription: Subscription, event: SeenEvent): void {
  subscription.delivery = event.delivery;
  if (event.kind === 'rescheduled') return;
  subscription.signature = event.signature;
  subscription.signatures = event.signatures;
  subscription.isSettled = true;
}

function destinationOutcome(subscription: Subscription): DestinationOutcome {
  const { destination: name, delivery, signature, signatures, isSettled } = subscription;
  const attempts = delivery?.progress.attempts ?? [];
  if (!isSettled) return { name, outcome: 'unsent', attempts };
  return {
    name,
    outcome: delivery?.state === 'delivered' ? 'delivered' : 'failed',
    attempts,
    ...(delivery?.reason !== undefined && { reason: delivery.reason }),
    ...(signature !== undefined && { signature }),
    ...(signatures !== undefined && { signatures }),
  };
}

/** Delivered only if all took it. */
function combined(destinations: readonly DestinationOutcome[]): Outcome['outcome'] {
  if (destinations.every(({ outcome }) => outcome === 'delivered')) return 'delivered';
  return destinations.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'unsent';
}

/** The outcome of a message that goes to a queue for another process to deliver. */
export function queuedOutcome(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) {
    const outcome = receipt.deliveries.length === 0 ? 'filtered' : 'queued';
    return { messageId, outcome, destinations: [] };
  }
  const { code, reason } = receipt;
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}

/** The outcome of a message that goes to a tracking API. */
export function trackingApiOutcome(receipt: Receipt): Outcome {
  const { messageId, attempts = [] } = receipt;
  if (receipt.accepted) {
    return {
      messageId,
      outcome: 'delivered',
      destinations: [{ name: TRACKING_API, outcome: 'delivered', attempts }],
    };
  }
  const { code, reason } = receipt;
  const outcome = code === 'aborted' ? 'unsent' : 'failed';
  return {
    messageId,
    outcome,
    destinations: [{ name: TRACKING_API, outcome, attempts }],
    refusal: { code, reason },
  };
}
