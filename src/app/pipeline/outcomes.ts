import type { AttemptRecord } from '../../attempt-record.ts';
import { callDetached } from '../../errors.ts';
import type { Receipt } from '../../client/sink.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import type { RoutedMessage } from '../../engine/router.ts';
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

/** A message between its routing and its end. */
export interface TrackedMessage {
  readonly deliveries: readonly TrackedDelivery[];
  /** Deliveries that are not settled yet. */
  unsettled: number;
  /** The caller that awaits the outcome; undefined until the receipt is in, or forever when no caller awaits it. */
  awaitedBy: { readonly messageId: string; readonly onOutcome: (outcome: Outcome) => void } | undefined;
}

/** One delivery of a message, as its events have shown it so far. */
interface TrackedDelivery {
  readonly id: string;
  readonly destination: string;
  delivery: Delivery | undefined;
  signature: string | undefined;
  signatures?: SignedHeaders['signatures'];
  isSettled: boolean;
}

type SeenEvent = Extract<EngineEvent, { kind: 'settled' | 'rescheduled' }>;

/**
 * Follows messages from the router to their end, by the engine's events: tells callers the outcome that they await, and the
 * client when a message leaves the memory.
 */
export class Outcomes {
  readonly #messages = new ReusableMap<TrackedMessage>();
  /** Whether messages that no caller awaits are followed too, because they stay in memory until they are settled. */
  readonly #followsAll: boolean;
  #unsettled = 0;
  #onSettled: (messages: number) => void = () => {};
  #isInterrupted = false;

  constructor({ followsAll }: { readonly followsAll: boolean }) {
    this.#followsAll = followsAll;
  }

  /** `listener` gets the number of messages that were settled, before their callers get the outcome. */
  onSettled(listener: (messages: number) => void): void {
    this.#onSettled = listener;
  }

  /** Begins to follow messages. To be called before their deliveries are added: events may come before `submit` resolves. */
  routed(messages: readonly RoutedMessage[]): readonly TrackedMessage[] {
    return messages.map(({ deliveries }) => {
      const message = trackedMessage(deliveries);
      if (deliveries.length > 0) this.#unsettled++;
      for (const { id } of deliveries) this.#messages.set(id, message);
      return message;
    });
  }

  see(event: EngineEvent): void {
    if (event.kind !== 'settled' && event.kind !== 'rescheduled') return;
    const message = this.#messages.get(event.delivery.id);
    const tracked = message?.deliveries.find(({ id }) => id === event.delivery.id);
    if (message === undefined || tracked === undefined || tracked.isSettled) return;
    update(tracked, event);
    if (!tracked.isSettled || --message.unsettled > 0) return;
    this.#settle(1);
    if (message.awaitedBy !== undefined) this.#conclude(message, message.awaitedBy);
  }

  /** Calls back, now or later, when each delivery of the receipt is settled, or interrupted. */
  subscribe(receipt: Receipt, onOutcome: (outcome: Outcome) => void): void {
    if (!receipt.accepted || receipt.deliveries.length === 0) return onOutcome(withoutDelivery(receipt));
    const { messageId, deliveries } = receipt;
    const message = this.#messages.get(deliveries[0]?.id ?? '') ?? trackedMessage(deliveries);
    message.awaitedBy = { messageId, onOutcome };
    if (message.unsettled === 0 || this.#isInterrupted) this.#conclude(message, message.awaitedBy);
  }

  /** Ends the following of messages whose receipts are out, or that were rejected, where no caller awaits them. */
  release(messages: readonly TrackedMessage[]): void {
    for (const message of messages) {
      const isNeeded = message.awaitedBy !== undefined || (this.#followsAll && message.unsettled > 0);
      if (!isNeeded) this.#forget(message);
    }
  }

  /** Nothing more will settle: calls back every caller that waits with what is known. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#settle(this.#unsettled);
    for (const message of new Set(this.#messages.values())) {
      if (message.awaitedBy !== undefined) this.#conclude(message, message.awaitedBy);
    }
  }

  #settle(messages: number): void {
    this.#unsettled -= messages;
    this.#onSettled(messages);
  }

  #conclude(
    message: TrackedMessage,
    { messageId, onOutcome }: NonNullable<TrackedMessage['awaitedBy']>,
  ): void {
    const { deliveries } = message;
    this.#forget(message);
    const destinations = deliveries.map(destinationOutcome);
    // They are old by now, and V8 would keep the young deliveries that they point to until the next full collection.
    for (const tracked of deliveries) tracked.delivery = undefined;
    callDetached(onOutcome, { messageId, outcome: combined(destinations), destinations });
  }

  #forget({ deliveries }: TrackedMessage): void {
    for (const { id } of deliveries) this.#messages.delete(id);
  }
}

function trackedMessage(deliveries: RoutedMessage['deliveries']): TrackedMessage {
  return {
    deliveries: deliveries.map(({ id, destination }) => ({
      id,
      destination,
      delivery: undefined,
      signature: undefined,
      isSettled: false,
    })),
    unsettled: deliveries.length,
    awaitedBy: undefined,
  };
}

function withoutDelivery(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) return { messageId, outcome: 'filtered', destinations: [] };
  const { code, reason } = receipt;
  // The message came when the engine was stopping: nothing is wrong with it.
  if (code === CLOSED) return { messageId, outcome: 'unsent', destinations: [] };
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}

function update(subscription: TrackedDelivery, event: SeenEvent): void {
  subscription.delivery = event.delivery;
  if (event.kind === 'rescheduled') return;
  subscription.signature = event.signature;
  subscription.signatures = event.signatures;
  subscription.isSettled = true;
}

function destinationOutcome(subscription: TrackedDelivery): DestinationOutcome {
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
